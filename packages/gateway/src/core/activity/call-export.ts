import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { sha256 } from '@assay-mcp/kit/digest';
import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  ChainCheck,
  type ChainReport,
  computeTimes,
  MAX_BATCH,
  type StoredBatch,
  type StoredCall,
} from './call-chain.ts';
import {
  addContextToDetails,
  type CallEntry,
  OTHER_CONTEXT,
  readCallEntry,
  readCallFacts,
  splitEntry,
  toCallEntry,
} from './call-entry.ts';

/** The line of a batch, which comes before those of its calls. */
export function formatBatchLine({ chain, number, previous, first, count, hash }: StoredBatch): string {
  return `${serializeCanonical({ kind: 'batch', chain, number, previous, first, count, hash })}\n`;
}

/** `context` is "other" if the entry's context is hashed as part of its details. */
export function formatCallLine(call: StoredCall): string {
  const { id, context, details } = call;
  const entry = readCallEntry(call, context?.text ?? '');
  const line =
    entry === undefined
      ? { id, unreadable: { context: context?.text, details } }
      : { id, entry, ...(context?.text === OTHER_CONTEXT && { context: 'other' }) };
  return `${JSON.stringify(line)}\n`;
}

/** A line that cannot be checked. */
export interface ExportFault {
  /** From 1. */
  readonly line: number;
  readonly problem: 'invalid' | 'no_batch';
}

interface OpenBatch {
  readonly batch: StoredBatch;
  readonly calls: StoredCall[];
}

/** Checks the hash chains of an export that was made without a filter, line by line. */
export class ExportCheck {
  readonly #check = new ChainCheck();
  #open: OpenBatch | undefined;
  #line = 0;
  #batches = 0;
  #last = { lastId: 0, lastBatch: 0 };

  add(text: string): Result<undefined, ExportFault> {
    this.#line += 1;
    const value = parseJson(text);
    if (!isJsonObject(value)) return this.#fault('invalid');
    if (value['kind'] === 'batch') {
      this.#close();
      const batch = readBatch(value, this.#batches + 1);
      if (batch === undefined) return this.#fault('invalid');
      this.#batches += 1;
      this.#open = { batch, calls: [] };
      return ok(undefined);
    }
    if (this.#open === undefined) return this.#fault('no_batch');
    const { id, entry, context } = value;
    if (typeof id !== 'number' || this.#open.calls.length >= MAX_BATCH) return this.#fault('invalid');
    const call = toStoredCall(id, entry, context === 'other');
    this.#open.calls.push(call);
    return ok(undefined);
  }

  end(): ChainReport {
    this.#close();
    const end = { prunedId: 0, batches: [], calls: [], uses: new Map(), otherFacts: new Map() };
    this.#check.add({ ...this.#last, ...end });
    return this.#check.report;
  }

  #close(): void {
    if (this.#open === undefined) return;
    const { batch, calls } = this.#open;
    const isFirst = batch.id === 1;
    this.#last = { lastId: batch.first + batch.count - 1, lastBatch: batch.id };
    this.#check.add({
      ...this.#last,
      prunedId: isFirst ? batch.first - 1 : 0,
      batches: [{ ...batch, ...computeTimes(calls) }],
      calls,
      uses: new Map([[batch.id, calls.length === 0 ? [] : [0]]]),
      otherFacts: new Map(
        calls.flatMap((call) => {
          if (call.context?.text !== OTHER_CONTEXT) return [];
          const entry = readCallEntry(call, OTHER_CONTEXT);
          return entry === undefined ? [] : [[call.id, { atMs: call.atMs, facts: readCallFacts(entry) }]];
        }),
      ),
    });
    this.#open = undefined;
  }

  #fault(problem: ExportFault['problem']): Result<never, ExportFault> {
    return err({ line: this.#line, problem });
  }
}

function readBatch(value: Readonly<Record<string, unknown>>, id: number): StoredBatch | undefined {
  const { chain, number, previous, first, count, hash } = value;
  const isBatch =
    [chain, previous, hash].every((one) => typeof one === 'string') &&
    [number, first, count].every((one) => Number.isSafeInteger(one));
  return isBatch
    ? ({ id, chain, number, previous, first, count, hash, minMs: 0, maxMs: 0 } as StoredBatch)
    : undefined; // just checked
}

/** Without a context if it is not an entry, so that the hash of its batch differs. */
function toStoredCall(id: number, value: unknown, isOther: boolean): StoredCall {
  const entry = toCallEntry(value);
  const split = entry === undefined ? undefined : trySplit(entry);
  if (entry === undefined || split === undefined)
    return { id, atMs: 0, tenths: 0, session: undefined, details: undefined, context: undefined };
  const { row, context: own } = split;
  const details = isOther ? addContextToDetails(row.details, own) : row.details;
  const text = isOther ? OTHER_CONTEXT : own;
  const facts = isOther ? {} : readCallFacts(entry);
  // One id for all, since an export does not have the rows of contexts.
  return { id, ...row, details, context: { id: 0, hash: sha256(text), text, facts } };
}

function trySplit(entry: CallEntry): ReturnType<typeof splitEntry> | undefined {
  try {
    return splitEntry(entry);
  } catch {
    // Nested too deeply for the stack, or not expressible as canonical JSON.
    return undefined;
  }
}
