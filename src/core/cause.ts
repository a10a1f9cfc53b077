import type { SandboxGap, UnsafePath } from './sandbox.ts';
import type { Reach, UrlChooser } from './reach.ts';

/**
 * Why a server is down, a list could not be read or a request failed. The fields are data: `cause-text.ts` renders the
 * phrase, `cause-remedy.ts` the remedy, and everything else reads the code. Codes are permanent: clients and scripts
 * may rely on them.
 */
export type Cause =
  // The process of a server.
  | { readonly code: 'COMMAND_NOT_FOUND'; readonly command: string }
  | { readonly code: 'COMMAND_NOT_EXECUTABLE'; readonly command: string }
  | { readonly code: 'CWD_INVALID'; readonly command: string }
  | { readonly code: 'COMMAND_LINE_TOO_LONG' }
  | { readonly code: 'OPEN_FILES_EXHAUSTED' }
  /** `error`: the system's error code. */
  | { readonly code: 'PROCESS_NOT_STARTED'; readonly error: string }
  | (Stderr & { readonly code: 'PROCESS_EXITED'; readonly exitCode: number | null })
  | (Stderr & { readonly code: 'PROCESS_KILLED'; readonly signal: string })
  | (Stderr & { readonly code: 'STDOUT_CLOSED' })
  | (Stderr & { readonly code: 'STDIN_CLOSED' })
  | { readonly code: 'SANDBOX_UNAVAILABLE'; readonly gap: SandboxGap }
  | ({ readonly code: 'SANDBOX_UNSAFE' } & UnsafePath)
  // The connection to a server.
  | { readonly code: 'CONNECTION_REFUSED' }
  | { readonly code: 'CONNECTION_TIMEOUT' }
  | { readonly code: 'CONNECTION_CLOSED' }
  | { readonly code: 'CONNECTION_FAILED'; readonly error: string }
  | { readonly code: 'HOST_UNKNOWN'; readonly error: string }
  | { readonly code: 'NETWORK_UNREACHABLE'; readonly error: string }
  | { readonly code: 'CERTIFICATE_INVALID'; readonly error: string }
  | { readonly code: 'TLS_FAILED'; readonly error: string }
  | {
      readonly code: 'ADDRESS_NOT_ALLOWED';
      readonly reaches: readonly Reach[];
      readonly chosenBy: UrlChooser;
    }
  // HTTP responses.
  | { readonly code: 'CREDENTIALS_REFUSED'; readonly status: number }
  | { readonly code: 'ADDRESS_MOVED'; readonly status: number; readonly location: string | undefined }
  | { readonly code: 'ENDPOINT_NOT_FOUND'; readonly status: number }
  /** It answered with a web page. */
  | { readonly code: 'ENDPOINT_NOT_MCP' }
  | { readonly code: 'RATE_LIMITED'; readonly status: number }
  | { readonly code: 'HTTP_SERVER_ERROR'; readonly status: number }
  | { readonly code: 'HTTP_STATUS_UNEXPECTED'; readonly status: number }
  | { readonly code: 'SESSION_EXPIRED' }
  | { readonly code: 'RESPONSE_INCOMPLETE' }
  | { readonly code: 'STREAM_CLOSED' }
  /** The response stream ended with `first`, and resuming it failed with `last`. */
  | { readonly code: 'STREAM_NOT_RESUMED'; readonly first: Cause; readonly last: Cause }
  | { readonly code: 'ENDPOINT_TIMEOUT' }
  | { readonly code: 'ENDPOINT_INVALID' }
  | { readonly code: 'ENDPOINT_NOT_ALLOWED' }
  // MCP messages.
  | { readonly code: 'MESSAGE_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'RESPONSE_INVALID'; readonly reason: string }
  | { readonly code: 'RESPONSE_AMBIGUOUS'; readonly reason: string }
  | { readonly code: 'RESPONSE_TIMEOUT'; readonly limitMs: number }
  | (Stderr & { readonly code: 'HANDSHAKE_TIMEOUT' })
  | { readonly code: 'HANDSHAKE_TOO_LARGE'; readonly reason: string }
  | { readonly code: 'HANDSHAKE_REFUSED'; readonly message: string | undefined }
  | { readonly code: 'PROTOCOL_VERSION_UNSUPPORTED'; readonly version: string | undefined }
  | {
      readonly code: 'LIST_REFUSED';
      readonly method: string;
      readonly error: string;
      readonly message: string;
    }
  | { readonly code: 'LIST_INVALID'; readonly method: string; readonly reason: string }
  /** The request got no response. */
  | { readonly code: 'LIST_UNANSWERED'; readonly method: string; readonly cause: Cause }
  /** Assay refused its own request: `error` is the code of the refusal, `reason` its sentence. */
  | { readonly code: 'REQUEST_REFUSED'; readonly error: string; readonly reason: string }
  // Signing in.
  | {
      readonly code: 'SIGN_IN_NEEDED';
      readonly server: string;
      readonly subject: string;
      readonly cause?: Cause | undefined;
    }
  | { readonly code: 'SIGN_IN_EXPIRED' }
  | { readonly code: 'SIGN_IN_UNREADABLE' }
  | { readonly code: 'SCOPE_INSUFFICIENT'; readonly scopes: readonly string[] }
  | { readonly code: 'TOKEN_REFUSED' }
  | { readonly code: 'TOKEN_EXPIRED' }
  | { readonly code: 'TOKEN_INVALID' }
  | { readonly code: 'RENEWAL_REFUSED'; readonly error: string }
  | (Renewal & { readonly code: 'AUTHORIZATION_SERVER_UNREACHABLE'; readonly reason: string })
  | (Renewal & { readonly code: 'TOKEN_RESPONSE_INVALID' })
  | (Renewal & { readonly code: 'RENEWAL_FAILED'; readonly error: string })
  | (Renewal & { readonly code: 'RENEWAL_LOCKED' })
  // Sources other than MCP servers.
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
  | { readonly code: 'TOOL_FAILED'; readonly reason: string }
  // The entry of a server.
  | {
      readonly code: 'ENTRY_INVALID';
      readonly line: number;
      readonly key: string;
      readonly reason: string;
      readonly remedy: string;
    }
  | { readonly code: 'ENTRY_UNREADABLE'; readonly reason: string | undefined }
  | { readonly code: 'NAME_INVALID'; readonly reason: string }
  | { readonly code: 'ENTRY_DISABLED' }
  | { readonly code: 'ENTRY_SHADOWED' }
  | { readonly code: 'ENTRY_CHANGED' }
  | { readonly code: 'ENTRY_REMOVED' }
  | { readonly code: 'SERVER_RESTARTED' }
  // Assay itself.
  | { readonly code: 'SERVER_NOT_READY' }
  | { readonly code: 'START_TIMEOUT'; readonly limitMs: number }
  | { readonly code: 'START_FAILED' }
  | { readonly code: 'READING_FAILED'; readonly error: string }
  | { readonly code: 'LINK_CLOSED' }
  | { readonly code: 'LINK_IDLE' }
  | { readonly code: 'LINK_REPLACED' }
  | { readonly code: 'CLIENT_GONE' }
  /** The twin of a server that has ended. */
  | { readonly code: 'SERVER_GONE' }
  | { readonly code: 'SHUTTING_DOWN' }
  // Limits.
  | { readonly code: 'QUEUE_FULL'; readonly waiting: number }
  | { readonly code: 'QUEUE_TOO_LARGE' }
  | { readonly code: 'INPUT_NOT_READ'; readonly waitedMs: number }
  | { readonly code: 'REQUESTS_IN_FLIGHT'; readonly inFlight: number; readonly waitedMs: number }
  | { readonly code: 'REQUEST_LIMIT' }
  | { readonly code: 'LINK_LIMIT'; readonly clients: number; readonly setting?: string | undefined };

export type CauseCode = Cause['code'];

/** The end of a process, with the line of its stderr that says why. */
interface Stderr {
  readonly stderr?: string | undefined;
}

/** A token renewal that failed for now and may succeed later. */
interface Renewal {
  readonly server: string;
  readonly subject: string;
}

/** A fault of an OpenAPI document. */
interface OfDocument {
  /** Its path, or its URL without what may be secret. Undefined if it was uploaded. */
  readonly document?: string | undefined;
}

/** Adds the error that a process wrote to stderr to a cause that can hold one. */
export function withStderr(cause: Cause, stderr: string | undefined): Cause {
  if (stderr === undefined) return cause;
  switch (cause.code) {
    case 'PROCESS_EXITED':
    case 'PROCESS_KILLED':
    case 'STDOUT_CLOSED':
    case 'STDIN_CLOSED':
    case 'HANDSHAKE_TIMEOUT':
      return { ...cause, stderr };
    default:
      return cause;
  }
}

/** What has to happen before a retry can succeed: time passing, a change outside Assay, or a sign-in. */
export type CauseRecovery = 'time' | 'change' | 'sign_in';

export function recoveryOf({ code }: Cause): CauseRecovery {
  return RECOVERY[code];
}

export const RECOVERY: Readonly<Record<CauseCode, CauseRecovery>> = {
  COMMAND_NOT_FOUND: 'change',
  COMMAND_NOT_EXECUTABLE: 'change',
  CWD_INVALID: 'change',
  COMMAND_LINE_TOO_LONG: 'change',
  OPEN_FILES_EXHAUSTED: 'time',
  PROCESS_NOT_STARTED: 'time',
  PROCESS_EXITED: 'time',
  PROCESS_KILLED: 'time',
  STDOUT_CLOSED: 'time',
  STDIN_CLOSED: 'time',
  SANDBOX_UNAVAILABLE: 'change',
  SANDBOX_UNSAFE: 'change',
  CONNECTION_REFUSED: 'time',
  CONNECTION_TIMEOUT: 'time',
  CONNECTION_CLOSED: 'time',
  CONNECTION_FAILED: 'time',
  HOST_UNKNOWN: 'time',
  NETWORK_UNREACHABLE: 'time',
  CERTIFICATE_INVALID: 'time',
  TLS_FAILED: 'time',
  // A host name may resolve to another address next time.
  ADDRESS_NOT_ALLOWED: 'time',
  CREDENTIALS_REFUSED: 'change',
  ADDRESS_MOVED: 'change',
  ENDPOINT_NOT_FOUND: 'time',
  ENDPOINT_NOT_MCP: 'time',
  RATE_LIMITED: 'time',
  HTTP_SERVER_ERROR: 'time',
  HTTP_STATUS_UNEXPECTED: 'time',
  SESSION_EXPIRED: 'time',
  RESPONSE_INCOMPLETE: 'time',
  STREAM_CLOSED: 'time',
  STREAM_NOT_RESUMED: 'time',
  ENDPOINT_TIMEOUT: 'time',
  ENDPOINT_INVALID: 'time',
  ENDPOINT_NOT_ALLOWED: 'time',
  MESSAGE_TOO_LARGE: 'time',
  RESPONSE_INVALID: 'time',
  RESPONSE_AMBIGUOUS: 'time',
  RESPONSE_TIMEOUT: 'time',
  HANDSHAKE_TIMEOUT: 'time',
  HANDSHAKE_TOO_LARGE: 'change',
  HANDSHAKE_REFUSED: 'time',
  PROTOCOL_VERSION_UNSUPPORTED: 'change',
  LIST_REFUSED: 'time',
  LIST_INVALID: 'time',
  LIST_UNANSWERED: 'time',
  REQUEST_REFUSED: 'time',
  SIGN_IN_NEEDED: 'sign_in',
  SIGN_IN_EXPIRED: 'sign_in',
  SIGN_IN_UNREADABLE: 'sign_in',
  SCOPE_INSUFFICIENT: 'sign_in',
  TOKEN_REFUSED: 'sign_in',
  TOKEN_EXPIRED: 'sign_in',
  TOKEN_INVALID: 'sign_in',
  RENEWAL_REFUSED: 'sign_in',
  AUTHORIZATION_SERVER_UNREACHABLE: 'time',
  TOKEN_RESPONSE_INVALID: 'time',
  RENEWAL_FAILED: 'time',
  RENEWAL_LOCKED: 'time',
  DOCUMENT_UNREADABLE: 'time',
  DOCUMENT_INVALID: 'time',
  DOCUMENT_TIMEOUT: 'time',
  MODULE_NOT_LOADED: 'time',
  MODULE_NOT_READY: 'time',
  MODULE_LOAD_TIMEOUT: 'time',
  MODULE_REMOVED: 'change',
  MEMORY_EXCEEDED: 'time',
  EXIT_CALLED: 'time',
  EVENT_LOOP_BLOCKED: 'time',
  PROCESS_OUTPUT_INVALID: 'time',
  PROCESS_OUTPUT_EXCESSIVE: 'time',
  TOOL_FAILED: 'time',
  ENTRY_INVALID: 'change',
  ENTRY_UNREADABLE: 'change',
  NAME_INVALID: 'change',
  ENTRY_DISABLED: 'change',
  ENTRY_SHADOWED: 'change',
  ENTRY_CHANGED: 'time',
  ENTRY_REMOVED: 'change',
  SERVER_RESTARTED: 'time',
  SERVER_NOT_READY: 'time',
  START_TIMEOUT: 'time',
  START_FAILED: 'time',
  READING_FAILED: 'time',
  LINK_CLOSED: 'time',
  LINK_IDLE: 'time',
  LINK_REPLACED: 'time',
  CLIENT_GONE: 'time',
  SERVER_GONE: 'time',
  SHUTTING_DOWN: 'time',
  QUEUE_FULL: 'time',
  QUEUE_TOO_LARGE: 'time',
  INPUT_NOT_READ: 'time',
  REQUESTS_IN_FLIGHT: 'time',
  REQUEST_LIMIT: 'time',
  LINK_LIMIT: 'time',
};

/** All codes, in the order of the union. */
export const CAUSE_CODES: readonly CauseCode[] = Object.keys(RECOVERY) as CauseCode[]; // keys of a total record

/** Applies a function to every text in a cause, e.g. to mask or truncate it. The code is kept. */
export function mapTexts(cause: Cause, change: (text: string) => string): Cause {
  return mapped(cause, change) as Cause; // the same members, of the same types
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, key === 'code' ? member : mapped(member, change)]),
  );
}
