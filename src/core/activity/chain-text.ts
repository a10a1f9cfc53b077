import type { ChainFault } from './call-chain.ts';

/** A fault as a sentence. */
export function formatChainFault(fault: ChainFault): string {
  const { id } = fault;
  switch (fault.code) {
    case 'entry_changed':
      return `Entry ${id} was changed: its hash differs.`;
    case 'entry_unreadable':
      return `Entry ${id} cannot be read: Assay did not write it.`;
    case 'row_changed':
      return `The row of entry ${id} was changed: it contradicts the entry.`;
    case 'entries_missing':
      return fault.count === 1
        ? `An entry before ${id}, or that one, is missing.`
        : `${fault.count} entries up to ${id} are missing.`;
    case 'entry_inserted':
      return `Entry ${id} does not follow the one before it in its chain: entries were inserted, removed or changed.`;
  }
}
