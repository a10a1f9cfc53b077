import type { Cause, CauseCode } from './cause.ts';
import { reachRemedy } from './reach.ts';
import { gapText, unsafePathText } from './sandbox.ts';
import { shellArgument } from './shell-argument.ts';
import { splitCommandRemedy } from './split-command.ts';
import { LOCAL_USER } from './subject.ts';

/** A cause as a phrase to follow the name of a server, without a full stop. Upstream text is quoted verbatim. */
export function causeText(cause: Cause): string {
  return TEXTS[cause.code](cause as never);
}

/** A cause in public JSON: its phrase and its code. */
export function causeJson(cause: Cause): { readonly cause: string; readonly causeCode: CauseCode } {
  return { cause: causeText(cause), causeCode: cause.code };
}

type Texts = { readonly [C in CauseCode]: (cause: Extract<Cause, { readonly code: C }>) => string };

const TEXTS: Texts = {
  COMMAND_NOT_FOUND: ({ command }) => {
    const remedy = splitCommandRemedy(command);
    return `cannot be started: command ${quote(command)} not found, ${
      remedy === undefined
        ? 'or its cwd does not exist'
        : `as it contains its arguments. ${remedy.slice(0, -1)}`
    }`;
  },
  COMMAND_NOT_EXECUTABLE: ({ command }) => `cannot be started: ${quote(command)} is not executable`,
  CWD_INVALID: ({ command }) =>
    `cannot be started: its cwd is not a folder, or ${quote(command)} is inside something that is not one`,
  COMMAND_LINE_TOO_LONG: () => 'cannot be started: its arguments or its environment are too long',
  OPEN_FILES_EXHAUSTED: () => 'cannot be started: too many files are open',
  PROCESS_NOT_STARTED: ({ error }) => `cannot be started: ${error}`,
  PROCESS_EXITED: ({ exitCode, stderr }) => `exited with code ${String(exitCode)}${after(stderr)}`,
  PROCESS_KILLED: ({ signal, stderr }) => `was ended by ${signal}${after(stderr)}`,
  STDOUT_CLOSED: ({ stderr }) => `closed its stdout without ending${after(stderr)}`,
  STDIN_CLOSED: ({ stderr }) => `closed its stdin without ending${after(stderr)}`,
  SANDBOX_UNAVAILABLE: ({ gap }) =>
    `cannot be started in a sandbox: ${gapText(gap)}; run \`assay sandbox check\``,
  SANDBOX_UNSAFE: (unsafe) => `cannot be started in a sandbox: ${unsafePathText(unsafe)}`,

  CONNECTION_REFUSED: () => 'nothing is listening at its address (ECONNREFUSED)',
  CONNECTION_TIMEOUT: () => 'its host did not respond in time (connect timeout)',
  CONNECTION_CLOSED: () => 'it closed the connection',
  CONNECTION_FAILED: ({ error }) => `the connection to it failed: ${error}`,
  HOST_UNKNOWN: ({ error }) => `its host name is not known (${error})`,
  NETWORK_UNREACHABLE: ({ error }) => `its network cannot be reached (${error})`,
  CERTIFICATE_INVALID: ({ error }) => `its certificate is not trusted (${error})`,
  TLS_FAILED: ({ error }) => `an encrypted connection to it could not be established (${error})`,
  ADDRESS_NOT_ALLOWED: ({ reaches, chosenBy }) =>
    `it leads to a ${reaches.join(' and ')} address, so nothing was sent there: ${reachRemedy(reaches, chosenBy)}`,

  CREDENTIALS_REFUSED: ({ status }) =>
    `it answers HTTP ${status}: the credentials were rejected; set "headers" in its config entry`,
  ADDRESS_MOVED: ({ status, location }) =>
    location === undefined
      ? `it answers HTTP ${status}, but does not say where it has moved`
      : `it answers HTTP ${status} and points to ${quote(location)}; set that as its "url"`,
  ENDPOINT_NOT_FOUND: ({ status }) => `it answers HTTP ${status}`,
  ENDPOINT_NOT_MCP: () =>
    'it responded with a web page, so it is not an MCP endpoint; those usually end in /mcp',
  RATE_LIMITED: ({ status }) => `it answers HTTP ${status}`,
  HTTP_SERVER_ERROR: ({ status }) => `it answers HTTP ${status}`,
  HTTP_STATUS_UNEXPECTED: ({ status }) => `it answers HTTP ${status}`,
  SESSION_EXPIRED: () => 'its session has expired (HTTP 404)',
  RESPONSE_INCOMPLETE: () => 'its response ended before the result',
  STREAM_CLOSED: () => 'it closed its event stream',
  STREAM_NOT_RESUMED: ({ first, last }) => `${causeText(first)}, and then ${causeText(last)}`,
  ENDPOINT_TIMEOUT: () => 'it did not name its address in time',
  ENDPOINT_INVALID: () => 'it named an address that is not a URL',
  ENDPOINT_NOT_ALLOWED: () => 'it named an address of another origin',

  MESSAGE_TOO_LARGE: ({ limitBytes }) => `it sent a message of more than ${limitBytes} bytes`,
  RESPONSE_INVALID: ({ reason }) => `its response is not valid JSON-RPC: ${reason}`,
  RESPONSE_AMBIGUOUS: ({ reason }) => `its response is ambiguous: ${reason}`,
  RESPONSE_TIMEOUT: ({ limitMs }) => `it sent neither a result nor progress for ${limitMs} ms`,
  HANDSHAKE_TIMEOUT: ({ stderr }) => `it did not answer "initialize" in time${after(stderr)}`,
  HANDSHAKE_TOO_LARGE: ({ reason }) => `its answer to "initialize" is ${reason}`,
  HANDSHAKE_REFUSED: ({ message }) =>
    `it refused "initialize": ${message === undefined ? 'it gave no reason' : quote(message)}`,
  PROTOCOL_VERSION_UNSUPPORTED: ({ version }) =>
    version === undefined
      ? 'it did not specify a protocol version'
      : `it requires protocol version ${quote(version)}, which Assay does not support`,
  LIST_REFUSED: ({ method, error, message }) => `${method} failed: ${error} ${message}`,
  LIST_INVALID: ({ method, reason }) => `${method} returned a result that is not a list: ${reason}`,
  LIST_UNANSWERED: ({ method, cause }) => `${method}: ${causeText(cause)}`,
  REQUEST_REFUSED: ({ reason }) => reason,

  SIGN_IN_NEEDED: ({ server, subject, cause }) =>
    `it waits for authorization${cause === undefined ? '' : ` (${causeText(cause)})`}; run ${signInCommand(server, subject)}`,
  SIGN_IN_EXPIRED: () => 'the last sign-in has expired',
  SIGN_IN_UNREADABLE: () => 'the last sign-in was stored with a different encryption key',
  SCOPE_INSUFFICIENT: ({ scopes }) =>
    `the sign-in lacks scopes that it requires: ${scopes.map(quote).join(', ') || 'it does not name them'}`,
  TOKEN_REFUSED: () => 'it rejected a newly issued access token',
  TOKEN_EXPIRED: () => 'its access token has expired, and there is no refresh token',
  TOKEN_INVALID: () => 'its authorization server issued an access token that is not valid in a header',
  RENEWAL_REFUSED: ({ error }) => `its authorization server refused to renew the sign-in: ${quote(error)}`,
  AUTHORIZATION_SERVER_UNREACHABLE: (cause) =>
    `its authorization server ${cause.reason}; ${untilSignIn(cause)}`,
  TOKEN_RESPONSE_INVALID: (cause) =>
    `its authorization server gave no valid token response; ${untilSignIn(cause)}`,
  RENEWAL_FAILED: (cause) => `its authorization server answered ${quote(cause.error)}; ${untilSignIn(cause)}`,
  RENEWAL_LOCKED: (cause) =>
    `another process has been renewing its sign-in for too long; ${untilSignIn(cause)}`,

  DOCUMENT_UNREADABLE: ({ document, reason }) => ofDocument(document, reason),
  DOCUMENT_INVALID: ({ document, reason }) => ofDocument(document, reason),
  DOCUMENT_TIMEOUT: ({ document, limitMs }) => ofDocument(document, `was not read within ${limitMs} ms`),
  MODULE_NOT_LOADED: ({ reason }) => `could not be loaded: ${reason}`,
  MODULE_NOT_READY: ({ waitedMs }) => `it has not loaded within ${waitedMs / 1000} s so far`,
  MODULE_LOAD_TIMEOUT: ({ limitMs }) => `did not load within ${limitMs / 1000} s`,
  MODULE_REMOVED: () => 'was stopped, because its module is no longer served',
  MEMORY_EXCEEDED: ({ limitMb }) => `used more than ${limitMb} MB`,
  EXIT_CALLED: ({ exitCode, at }) => `called process.exit(${exitCode})${at === undefined ? '' : ` (${at})`}`,
  EVENT_LOOP_BLOCKED: ({ tool }) => `had its event loop blocked by its tool ${tool}, and was stopped`,
  PROCESS_OUTPUT_INVALID: ({ reason }) =>
    `wrote invalid data to its channel to Assay (${reason}), and was stopped`,
  PROCESS_OUTPUT_EXCESSIVE: () =>
    'sent more progress and log messages during a call than Assay accepts, and was stopped',
  TOOL_FAILED: ({ reason }) => reason,

  ENTRY_INVALID: ({ line, key, reason, remedy }) =>
    `its entry in the config cannot be used: line ${line}: ${key}: ${reason}. ${remedy}`,
  ENTRY_UNREADABLE: ({ reason }) => reason ?? 'its entry cannot be used',
  NAME_INVALID: ({ reason }) => `its name cannot be used: ${reason}`,
  ENTRY_DISABLED: () => 'it is disabled',
  ENTRY_SHADOWED: () => 'the config file has another entry with this name',
  ENTRY_CHANGED: () => 'its entry in the config has changed; it is being restarted',
  ENTRY_REMOVED: () => 'it was removed from the config',
  SERVER_RESTARTED: () => 'an operator restarted it',

  SERVER_NOT_READY: () => 'it has not started yet',
  START_TIMEOUT: ({ limitMs }) => `it did not start within ${limitMs} ms`,
  START_FAILED: () => 'it could not be started; the log says why',
  READING_FAILED: ({ error }) => `it could not be handled: ${error}`,
  LINK_CLOSED: () => 'the connection to it was closed',
  LINK_IDLE: () => 'the connection to it was idle',
  LINK_REPLACED: () => 'its connection was closed to make room for another client',
  CLIENT_GONE: () => 'its client disconnected',
  SERVER_GONE: () => 'its twin was ended with it',
  SHUTTING_DOWN: () => 'Assay is shutting down',

  QUEUE_FULL: ({ waiting }) =>
    `${waiting} requests are waiting for it, which is the maximum (limits.queuePerServer)`,
  QUEUE_TOO_LARGE: () => 'the requests waiting for it have reached the size limit',
  INPUT_NOT_READ: ({ waitedMs }) =>
    `it has not read what it was sent, and this request waited for ${waitedMs} ms`,
  REQUESTS_IN_FLIGHT: ({ inFlight, waitedMs }) =>
    `${inFlight} requests are in flight, and this one waited for ${waitedMs} ms (limits.requestsPerServer)`,
  REQUEST_LIMIT: () => 'too many requests are already waiting for it',
  LINK_LIMIT: ({ clients, setting }) =>
    `${clients} clients are using it, which is the maximum${setting === undefined ? '' : ` (${setting})`}`,
};

function after(stderr: string | undefined): string {
  return stderr === undefined ? '' : `: ${stderr}`;
}

/** The command with which a subject signs in to a server. */
function signInCommand(server: string, subject: string): string {
  const who = subject === LOCAL_USER.subject ? '' : ` --subject ${shellArgument(subject)}`;
  return `\`assay auth ${shellArgument(server)}${who}\``;
}

function untilSignIn({ server, subject }: { readonly server: string; readonly subject: string }): string {
  return `if that lasts, run ${signInCommand(server, subject)}`;
}

function ofDocument(document: string | undefined, reason: string): string {
  return document === undefined ? reason : `its document ${quote(document)}: ${reason}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
