import { quote } from '@assay-mcp/kit/printable';
import { after, BY_HAND, type CauseTable, DOWNLOAD, ITS_AUTHOR, OWN_LOG, type Stderr } from './cause-row.ts';
/** Causes of MCP messages. */
export type MessageCause =
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
  /** Assay refused its own request: `error` is the code of the refusal, `reason` its sentence. */
  | { readonly code: 'REQUEST_REFUSED'; readonly error: string; readonly reason: string };

const ITS_LISTS = 'The server itself returned this: check its log, and where it gets these lists from.';

export const MESSAGE_CAUSES: CauseTable<MessageCause> = {
  MESSAGE_TOO_LARGE: {
    recovery: 'time',
    text: ({ limitBytes }) => `it sent a message of more than ${limitBytes} bytes`,
    remedy: ITS_AUTHOR,
  },
  RESPONSE_INVALID: {
    recovery: 'time',
    text: ({ reason }) => `its response is not valid JSON-RPC: ${reason}`,
    remedy: ITS_AUTHOR,
  },
  RESPONSE_AMBIGUOUS: {
    recovery: 'time',
    text: ({ reason }) => `its response is ambiguous: ${reason}`,
    remedy: ITS_AUTHOR,
  },
  RESPONSE_TIMEOUT: {
    recovery: 'time',
    text: ({ limitMs }) => `it sent neither a result nor progress for ${limitMs} ms`,
    remedy: 'Check the log of the server, or raise "timeoutMs" in its config entry.',
  },
  HANDSHAKE_TIMEOUT: {
    recovery: 'time',
    text: ({ stderr }) => `it did not answer "initialize" in time${after(stderr)}`,
    remedy: `Check the log of the server. ${BY_HAND} ${DOWNLOAD}`,
  },
  HANDSHAKE_TOO_LARGE: {
    recovery: 'change',
    text: ({ reason }) => `its answer to "initialize" is ${reason}`,
    remedy: ITS_AUTHOR,
  },
  HANDSHAKE_REFUSED: {
    recovery: 'time',
    text: ({ message }) =>
      `it refused "initialize": ${message === undefined ? 'it gave no reason' : quote(message)}`,
    remedy: 'The server itself returned this: check its log, and "args", "env" or "headers".',
  },
  PROTOCOL_VERSION_UNSUPPORTED: {
    recovery: 'change',
    text: ({ version }) =>
      version === undefined
        ? 'it did not specify a protocol version'
        : `it requires protocol version ${quote(version)}, which Assay does not support`,
    remedy: 'Use a version of the server that supports a released revision of MCP.',
  },
  LIST_REFUSED: {
    recovery: 'time',
    text: ({ method, error, message }) => `${method} failed: ${error} ${message}`,
    remedy: ITS_LISTS,
  },
  LIST_INVALID: {
    recovery: 'time',
    text: ({ method, reason }) => `${method} returned a result that is not a list: ${reason}`,
    remedy: ITS_LISTS,
  },
  REQUEST_REFUSED: {
    recovery: 'time',
    text: ({ reason }) => reason,
    remedy: OWN_LOG,
  },
};
