/** Why an index cannot be read or written. */
export type IndexRefusal =
  /** `repository`: the requested id, if any. */
  | { readonly code: 'NOT_INDEXED'; readonly repository?: string | undefined }
  | { readonly code: 'PATH_INVALID'; readonly path: string; readonly reason: string }
  | {
      readonly code: 'INDEX_TOO_NEW';
      readonly path: string;
      readonly found: number;
      readonly known: number;
    }
  | { readonly code: 'INDEX_OUTDATED'; readonly path: string }
  | { readonly code: 'INDEX_DAMAGED'; readonly path: string }
  | { readonly code: 'INDEX_FOREIGN'; readonly path: string }
  | { readonly code: 'INDEX_UNAVAILABLE'; readonly path: string; readonly reason: string }
  | { readonly code: 'DISK_FULL'; readonly path: string }
  | { readonly code: 'INDEX_FULL'; readonly maxBytes: number }
  | { readonly code: 'INDEXER_BUSY'; readonly limit: number }
  | { readonly code: 'INDEXER_LOST'; readonly reason: string }
  | { readonly code: 'CANCELLED' };

/** What happened, and what to do next. Each is one or two sentences. */
export interface RefusalText {
  readonly message: string;
  readonly remedy: string;
}

export function formatIndexRefusal(refusal: IndexRefusal): RefusalText {
  return { message: messageOf(refusal), remedy: REMEDIES[refusal.code] };
}

function messageOf(refusal: IndexRefusal): string {
  const path = 'path' in refusal ? JSON.stringify(refusal.path) : '';
  switch (refusal.code) {
    case 'NOT_INDEXED':
      return refusal.repository === undefined
        ? 'This project has no index yet.'
        : `This project has no indexed repository with the id ${JSON.stringify(refusal.repository)}.`;
    case 'PATH_INVALID':
      return `Cannot index ${path}: ${refusal.reason}.`;
    case 'INDEX_TOO_NEW':
      return `The index ${path} was written by a newer version of Assay (format ${refusal.found}; this version knows ${refusal.known}).`;
    case 'INDEX_OUTDATED':
      return `The index ${path} was written by an older version of Assay.`;
    case 'INDEX_DAMAGED':
      return `The index ${path} is damaged.`;
    case 'INDEX_FOREIGN':
      return `${path} is a database of another program, so it was left unchanged.`;
    case 'INDEX_UNAVAILABLE':
      return `The index ${path} cannot be used: ${refusal.reason}.`;
    case 'DISK_FULL':
      return `The disk of the index ${path} is full. The former index is unchanged and can still be searched.`;
    case 'INDEX_FULL':
      return `The indexes of all projects together may have ${refusal.maxBytes} bytes, and this run needs more. What was indexed before can still be searched.`;
    case 'INDEXER_BUSY':
      return `${refusal.limit} calls of index_repository are waiting already.`;
    case 'INDEXER_LOST':
      return `Indexing stopped: ${refusal.reason}. The former index is unchanged.`;
    case 'CANCELLED':
      return 'Indexing was cancelled. The former index is unchanged.';
  }
}

const REMEDIES: Readonly<Record<IndexRefusal['code'], string>> = {
  NOT_INDEXED: 'Call index_repository with the absolute path of the repository, then search again.',
  PATH_INVALID: 'Pass the absolute path of an existing directory that this server may read.',
  INDEX_TOO_NEW: 'Update Assay, or delete that file and call index_repository.',
  INDEX_OUTDATED: 'Call index_repository for each repository of the project; it rebuilds the index.',
  INDEX_DAMAGED:
    'Call index_repository with force_reindex: true. It keeps the damaged file under another name and builds a new index.',
  INDEX_FOREIGN: 'Move that file away, then call index_repository.',
  INDEX_UNAVAILABLE: 'Fix the cause, then try again.',
  DISK_FULL: 'Free some space, then call index_repository again.',
  INDEX_FULL:
    "Index a smaller folder, or list what is not needed in a .mcpignore. The operator can raise ASSAY_CODEBASE_MAX_INDEX_BYTES, or delete the folder of an unused project below codebase/ in Assay's home.",
  INDEXER_BUSY: 'Wait until they are done, then try again.',
  INDEXER_LOST: 'Call index_repository again; it continues where it stopped.',
  CANCELLED: 'Call index_repository again to continue where it stopped.',
};
