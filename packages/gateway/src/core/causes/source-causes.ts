import { quote } from '@assay-mcp/kit/printable';
import { type CauseTable, OWN_LOG } from './cause-row.ts';
/** Causes of sources other than MCP servers. */
export type SourceCause =
  | (OfDocument & { readonly code: 'DOCUMENT_UNREADABLE'; readonly reason: string })
  | (OfDocument & { readonly code: 'DOCUMENT_INVALID'; readonly reason: string })
  | (OfDocument & { readonly code: 'DOCUMENT_TIMEOUT'; readonly limitMs: number })
  | { readonly code: 'MODULE_NOT_LOADED'; readonly reason: string }
  | { readonly code: 'MODULE_NOT_READY'; readonly waitedMs: number }
  | { readonly code: 'MODULE_LOAD_TIMEOUT'; readonly limitMs: number }
  | { readonly code: 'MODULE_REMOVED' }
  | { readonly code: 'MEMORY_EXCEEDED'; readonly limitMb: number }
  /** `at`: the location in the module. */
  | { readonly code: 'EXIT_CALLED'; readonly exitCode: string; readonly at: string | undefined }
  | { readonly code: 'EVENT_LOOP_BLOCKED'; readonly tool: string }
  | { readonly code: 'PROCESS_OUTPUT_INVALID'; readonly reason: string }
  | { readonly code: 'PROCESS_OUTPUT_EXCESSIVE' }
  | { readonly code: 'TOOL_FAILED'; readonly reason: string };

/** A fault of an OpenAPI document. */
interface OfDocument {
  /** Its path, or its URL without what may be secret. Undefined if it was uploaded. */
  readonly document?: string | undefined;
}

const MODULE_ITSELF = 'Correct the module; it is loaded again as soon as its file changes.';

export const SOURCE_CAUSES: CauseTable<SourceCause> = {
  DOCUMENT_UNREADABLE: {
    recovery: 'time',
    text: ({ document, reason }) => ofDocument(document, reason),
    remedy: 'Check "openapi" and "headers" in its config entry: the document must be readable there.',
  },
  DOCUMENT_INVALID: {
    recovery: 'time',
    text: ({ document, reason }) => ofDocument(document, reason),
    remedy: 'Correct the document, or report this to its author.',
  },
  DOCUMENT_TIMEOUT: {
    recovery: 'time',
    text: ({ document, limitMs }) => ofDocument(document, `was not read within ${limitMs} ms`),
    remedy: 'Raise "timeoutMs" in its config entry, or check your network.',
  },
  MODULE_NOT_LOADED: {
    recovery: 'time',
    text: ({ reason }) => `could not be loaded: ${reason}`,
    remedy: MODULE_ITSELF,
  },
  MODULE_NOT_READY: {
    recovery: 'time',
    text: ({ waitedMs }) => `it has not loaded within ${waitedMs / 1000} s so far`,
    remedy: 'Wait a moment: it is listed as soon as it has loaded.',
  },
  MODULE_LOAD_TIMEOUT: {
    recovery: 'time',
    text: ({ limitMs }) => `did not load within ${limitMs / 1000} s`,
    remedy: MODULE_ITSELF,
  },
  MODULE_REMOVED: {
    recovery: 'change',
    text: () => 'was stopped, because its module is no longer served',
    remedy: 'Add the module again if you still need its tools.',
  },
  MEMORY_EXCEEDED: {
    recovery: 'time',
    text: ({ limitMb }) => `used more than ${limitMb} MB`,
    remedy: 'Reduce the memory use of the module, or raise its "memoryMb".',
  },
  EXIT_CALLED: {
    recovery: 'time',
    text: ({ exitCode, at }) => `called process.exit(${exitCode})${at === undefined ? '' : ` (${at})`}`,
    remedy: 'Remove the call to process.exit from the module.',
  },
  EVENT_LOOP_BLOCKED: {
    recovery: 'time',
    text: ({ tool }) => `had its event loop blocked by its tool ${tool}, and was stopped`,
    remedy: 'Make the tool wait with `await`, or work in smaller steps.',
  },
  PROCESS_OUTPUT_INVALID: {
    recovery: 'time',
    text: ({ reason }) => `wrote invalid data to its channel to Assay (${reason}), and was stopped`,
    remedy: MODULE_ITSELF,
  },
  PROCESS_OUTPUT_EXCESSIVE: {
    recovery: 'time',
    text: () => 'sent more progress and log messages during a call than Assay accepts, and was stopped',
    remedy: 'Make the tool send progress and log messages less often.',
  },
  TOOL_FAILED: {
    recovery: 'time',
    text: ({ reason }) => reason,
    remedy: OWN_LOG,
  },
};

function ofDocument(document: string | undefined, reason: string): string {
  return document === undefined ? reason : `its document ${quote(document)}: ${reason}`;
}
