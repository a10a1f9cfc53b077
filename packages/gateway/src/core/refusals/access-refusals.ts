import { quote } from '@assay-mcp/kit/printable';
import { formatCause, type Cause } from '../cause.ts';
import { INTERNAL, INVALID_PARAMS, INVALID_REQUEST, type RefusalTable } from './refusal-row.ts';

/** Refusals about access: hosts, tokens, scopes and sign-ins. */
export type AccessRefusal =
  | { readonly code: 'HOST_FORBIDDEN'; readonly host: string }
  | {
      readonly code: 'ORIGIN_FORBIDDEN';
      readonly origin: string;
      /** The setting `mcp.allowedOrigins` could allow it. */
      readonly canAllow?: true;
    }
  | {
      readonly code: 'TOKEN_REQUIRED';
      /** A phrase: why the given token is invalid, if that may be disclosed. ASCII without quotes. */
      readonly reason?: string;
    }
  | { readonly code: 'LINK_UNUSABLE' }
  | { readonly code: 'ISSUER_UNAVAILABLE'; readonly issuer: string; readonly waitSeconds: number }
  | { readonly code: 'SCOPE_MISSING'; readonly scope: string }
  | { readonly code: 'EXECUTE_OFF' }
  | { readonly code: 'TOO_MANY_FAILURES'; readonly waitSeconds: number }
  | { readonly code: 'TOKEN_EXISTS'; readonly name: string }
  | { readonly code: 'TOKEN_UNKNOWN'; readonly name: string }
  | {
      readonly code: 'AUTHORIZATION_NEEDED';
      readonly server: string;
      readonly subject: string;
      /** Why the previous sign-in is unusable. Undefined if there was none. */
      readonly cause?: Cause | undefined;
    }
  | { readonly code: 'AUTHORIZATION_FAILED'; readonly server: string; readonly reason: string }
  | { readonly code: 'AUTHORIZATION_UNKNOWN'; readonly server: string; readonly subject: string }
  | { readonly code: 'KEY_UNUSABLE'; readonly place: string; readonly reason: string }
  /** Ids of the key that the store was last encrypted with, and of those of this process. */
  | { readonly code: 'KEY_DIFFERS'; readonly key: string; readonly keys: readonly string[] };

export const ACCESS_REFUSALS: RefusalTable<AccessRefusal> = {
  HOST_FORBIDDEN: {
    reported: { rpc: INVALID_REQUEST, http: 403, exit: 'usage' },
    sentence: (r) =>
      `The Host header ${quote(r.host)} does not name this server. Use 127.0.0.1, localhost or the address it listens on.`,
  },
  ORIGIN_FORBIDDEN: {
    reported: { rpc: INVALID_REQUEST, http: 403, exit: 'usage' },
    sentence: (r) =>
      r.origin === ''
        ? 'The session cookie is accepted only from the admin pages themselves. Other programs send a token.'
        : `Requests from the origin ${quote(r.origin)} are not allowed.${r.canAllow ? ' List it in the setting mcp.allowedOrigins if its pages are to use MCP endpoints.' : ''}`,
  },
  TOKEN_REQUIRED: {
    reported: { rpc: INVALID_REQUEST, http: 401, exit: 'usage' },
    sentence: (r) =>
      r.reason === undefined
        ? 'A valid token is needed: send the header "Authorization: Bearer <token>". `assay token create NAME` makes one.'
        : `The token is not valid: ${r.reason}. Send a valid one in the header "Authorization: Bearer <token>".`,
  },
  LINK_UNUSABLE: {
    reported: { rpc: INVALID_REQUEST, http: 401, exit: 'usage' },
    sentence: () => 'This sign-in link has expired or was used. Create another with `assay token link`.',
  },
  ISSUER_UNAVAILABLE: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      `The token cannot be verified now: the keys of its issuer ${quote(r.issuer)} could not be fetched. Try again in ${r.waitSeconds} s.`,
  },
  SCOPE_MISSING: {
    reported: { rpc: INVALID_REQUEST, http: 403, exit: 'usage' },
    sentence: (r) =>
      r.scope === 'execute'
        ? 'The token lacks the scope "execute", which is required to add or change an entry that runs a command or module, reads a local file, uses a reference such as ${secret:NAME}, or sets a proxy. `assay token create NAME --scopes admin,execute` makes one that has it.'
        : `The token lacks the scope ${quote(r.scope)}. \`assay token create NAME --scopes ${r.scope}\` creates one that has it.`,
  },
  EXECUTE_OFF: {
    reported: { rpc: INVALID_REQUEST, http: 403, exit: 'usage' },
    sentence: () =>
      'Entries with commands, modules, local files, references or proxies can be added over the API only if Assay listens on loopback and has no auth.publicUrl. Add the entry to the config file instead.',
  },
  TOO_MANY_FAILURES: {
    reported: { rpc: INVALID_REQUEST, http: 429, exit: 'unavailable' },
    sentence: (r) => `Too many invalid tokens were sent. Try again in ${r.waitSeconds} s.`,
  },
  TOKEN_EXISTS: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `A token named ${quote(r.name)} already exists. Choose another name, or revoke that one.`,
  },
  TOKEN_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) => `No valid token is named ${quote(r.name)}. \`assay token list\` lists all tokens.`,
  },
  AUTHORIZATION_NEEDED: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} cannot be used: ${formatCause({ ...r, code: 'SIGN_IN_NEEDED' })}.`,
  },
  AUTHORIZATION_FAILED: {
    reported: { rpc: INTERNAL, http: 500, exit: 'failed' },
    sentence: (r) => `Server ${quote(r.server)} was not authorized: ${r.reason}.`,
  },
  AUTHORIZATION_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) =>
      `There is no sign-in to server ${quote(r.server)} for ${quote(r.subject)}. \`assay auth --list\` lists all sign-ins.`,
  },
  KEY_UNUSABLE: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) => `The encryption key in ${r.place} cannot be used: ${r.reason}.`,
  },
  KEY_DIFFERS: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) =>
      `The store was encrypted with the key ${quote(r.key)}, and this process has ${r.keys.length === 0 ? 'none' : `only ${r.keys.map(quote).join(', ')}`}: it cannot decrypt sign-ins, secrets or registered entries. Give all processes on the store the same ASSAY_KEY_FILE, or restore encryption.key.`,
  },
};
