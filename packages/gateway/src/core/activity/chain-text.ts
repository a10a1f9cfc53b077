import type { ChainFault } from './call-chain.ts';

/** A fault as a sentence. */
export function formatChainFault(fault: ChainFault): string {
  switch (fault.code) {
    case 'batch_changed':
      return `Batch ${fault.batch} (${formatRange(fault)}) was changed: its hash, its times or its contexts are not those of its entries.`;
    case 'batch_inserted':
      return `Batch ${fault.batch} (${formatRange(fault)}) does not follow the one before it in its chain: batches were inserted, removed or changed.`;
    case 'entry_unreadable':
      return `Entry ${fault.id} of batch ${fault.batch} cannot be read: Assay did not write it.`;
    case 'row_changed':
      return `The columns by which entry ${fault.id} of batch ${fault.batch} is found were changed: they contradict the entry.`;
    case 'entry_inserted':
      return `Entry ${fault.id} was inserted: it belongs to no batch.`;
    case 'entries_missing':
      return fault.count === 1
        ? `An entry before ${fault.id}, or that one, is missing.`
        : `${fault.count} entries up to ${fault.id} are missing.`;
    case 'batches_missing':
      return `The last batch should be ${fault.batch}: batches are missing, or were added.`;
    case 'counts_changed':
      return `The counts of the minute ${fault.minute} were changed: they are not those of its entries.`;
  }
}

function formatRange({ first, last }: { readonly first: number; readonly last: number }): string {
  return first === last ? `entry ${first}` : `entries ${first} to ${last}`;
}
