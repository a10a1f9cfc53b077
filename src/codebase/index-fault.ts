import type { Fault, FaultCode } from './fault.ts';
import { type IndexRefusal, formatIndexRefusal } from './store/index-refusal.ts';

const CODES: Readonly<Record<IndexRefusal['code'], FaultCode>> = {
  NOT_INDEXED: 'NOT_INDEXED',
  INDEX_OUTDATED: 'NOT_INDEXED',
  PATH_INVALID: 'VALIDATION_ERROR',
  INDEXER_BUSY: 'INDEX_BUSY',
  CANCELLED: 'CANCELLED',
  INDEX_TOO_NEW: 'OPERATION_ERROR',
  INDEX_DAMAGED: 'OPERATION_ERROR',
  INDEX_FOREIGN: 'OPERATION_ERROR',
  INDEX_UNAVAILABLE: 'OPERATION_ERROR',
  DISK_FULL: 'OPERATION_ERROR',
  INDEX_FULL: 'INDEX_FULL',
  INDEXER_LOST: 'OPERATION_ERROR',
};

/** Why an index cannot be read or written, as the fault of a tool. */
export function toIndexFault(refusal: IndexRefusal): Fault {
  const text = formatIndexRefusal(refusal);
  if (refusal.code === 'PATH_INVALID') return { code: CODES[refusal.code], field: 'repo_path', ...text };
  if (refusal.code === 'NOT_INDEXED' && refusal.repository !== undefined)
    return { code: 'NOT_FOUND', field: 'repository_id', ...text };
  return { code: CODES[refusal.code], ...text };
}
