import type { CauseCode } from './cause.ts';

/** What to do about a cause, in one or two sentences. */
export function remedyOf(code: CauseCode): string {
  return REMEDIES[code];
}

const BY_HAND = 'Run its command in a terminal and check the output.';
const ENVIRONMENT =
  'Its environment contains only a few harmless variables, and those in "env" of its config entry.';
const DOWNLOAD =
  'The first start with npx, uvx or docker downloads the server; running it once in a terminal does the same.';
const HTTP_LOG = 'Check "url" and "headers" in its config entry, and the log of the server.';
const ITS_AUTHOR = 'Report this to the author of the server: clients cannot use its messages.';
const NETWORK = 'Check your network, proxy and firewall, and "url".';
const SIGN_IN =
  'Run that command and sign in; a running `assay serve` then uses the new sign-in automatically.';
const SIGN_IN_LATER = 'Try again later. If that does not help, run that command and sign in again.';
const ITS_LISTS = 'The server itself returned this: check its log, and where it gets these lists from.';
const ITS_ENTRY = 'Correct its entry in the config, or remove it.';
const OWN_LOG = 'Check the log of Assay, and report the error.';
const MODULE_ITSELF = 'Correct the module; it is loaded again as soon as its file changes.';
const NOTHING = 'Nothing to do: Assay reconnects when needed.';
const LATER = 'Try again later.';
const LATER_OR_RAISE = 'Try again later, or raise that limit: see docs/SETTINGS.md.';

const REMEDIES: Readonly<Record<CauseCode, string>> = {
  COMMAND_NOT_FOUND: 'Install the command, or correct "command" or "cwd" in its config entry.',
  COMMAND_NOT_EXECUTABLE: 'Give the file the right to be executed (`chmod +x`).',
  CWD_INVALID: 'Correct "cwd" in its config entry.',
  COMMAND_LINE_TOO_LONG: 'Shorten "args" or "env" in its config entry.',
  OPEN_FILES_EXHAUSTED: 'Raise the limit of open files (`ulimit -n`), or start fewer servers.',
  PROCESS_NOT_STARTED: BY_HAND,
  PROCESS_EXITED: `${BY_HAND} ${ENVIRONMENT}`,
  PROCESS_KILLED: `${BY_HAND} ${ENVIRONMENT}`,
  STDOUT_CLOSED: `${BY_HAND} ${ENVIRONMENT}`,
  STDIN_CLOSED: `${BY_HAND} ${ENVIRONMENT}`,
  SANDBOX_UNAVAILABLE: 'Install what that command names, or set "sandbox": "off" in its config entry.',
  SANDBOX_UNSAFE:
    'Move that path out of its roots or give it narrower roots; if you moved a folder yourself, run `assay review --roots SERVER`.',

  CONNECTION_REFUSED: 'Start the server, or correct host and port of "url" in its config entry.',
  CONNECTION_TIMEOUT: NETWORK,
  CONNECTION_CLOSED: HTTP_LOG,
  CONNECTION_FAILED: HTTP_LOG,
  HOST_UNKNOWN: 'Correct the host of "url" in its config entry, or check your network and DNS.',
  NETWORK_UNREACHABLE: NETWORK,
  CERTIFICATE_INVALID:
    'Check its certificate; to trust your own, set NODE_EXTRA_CA_CERTS to a file that contains it.',
  TLS_FAILED: 'Check "url" in its config entry: does this port support https?',
  ADDRESS_NOT_ALLOWED: 'Allow such addresses with the setting named above, or correct "url".',

  CREDENTIALS_REFUSED:
    'Set valid credentials in "headers" of its config entry, such as "Authorization": "Bearer ${TOKEN}".',
  ADDRESS_MOVED: 'Set "url" in its config entry to the new address.',
  ENDPOINT_NOT_FOUND:
    'Correct the path of "url" in its config entry: this is not an MCP endpoint; those usually end in /mcp.',
  ENDPOINT_NOT_MCP: 'Correct "url" in its config entry; see the server’s documentation for its MCP endpoint.',
  RATE_LIMITED: 'It receives too many requests: try again later.',
  HTTP_SERVER_ERROR: 'The server failed: check its log, or try again later.',
  HTTP_STATUS_UNEXPECTED: HTTP_LOG,
  SESSION_EXPIRED: NOTHING,
  RESPONSE_INCOMPLETE: HTTP_LOG,
  STREAM_CLOSED: HTTP_LOG,
  STREAM_NOT_RESUMED: HTTP_LOG,
  ENDPOINT_TIMEOUT: HTTP_LOG,
  ENDPOINT_INVALID: ITS_AUTHOR,
  ENDPOINT_NOT_ALLOWED: ITS_AUTHOR,

  MESSAGE_TOO_LARGE: ITS_AUTHOR,
  RESPONSE_INVALID: ITS_AUTHOR,
  RESPONSE_AMBIGUOUS: ITS_AUTHOR,
  RESPONSE_TIMEOUT: 'Check the log of the server, or raise "timeoutMs" in its config entry.',
  HANDSHAKE_TIMEOUT: `Check the log of the server. ${BY_HAND} ${DOWNLOAD}`,
  HANDSHAKE_TOO_LARGE: ITS_AUTHOR,
  HANDSHAKE_REFUSED: 'The server itself returned this: check its log, and "args", "env" or "headers".',
  PROTOCOL_VERSION_UNSUPPORTED: 'Use a version of the server that supports a released revision of MCP.',
  LIST_REFUSED: ITS_LISTS,
  LIST_INVALID: ITS_LISTS,
  LIST_UNANSWERED: 'Check the log of the server, or raise "timeoutMs" in its config entry.',
  REQUEST_REFUSED: OWN_LOG,

  SIGN_IN_NEEDED: SIGN_IN,
  SIGN_IN_EXPIRED: SIGN_IN,
  SIGN_IN_UNREADABLE: SIGN_IN,
  SCOPE_INSUFFICIENT: SIGN_IN,
  TOKEN_REFUSED: SIGN_IN,
  TOKEN_EXPIRED: SIGN_IN,
  TOKEN_INVALID: SIGN_IN,
  RENEWAL_REFUSED: SIGN_IN,
  AUTHORIZATION_SERVER_UNREACHABLE: SIGN_IN_LATER,
  TOKEN_RESPONSE_INVALID: SIGN_IN_LATER,
  RENEWAL_FAILED: SIGN_IN_LATER,
  RENEWAL_LOCKED: SIGN_IN_LATER,

  DOCUMENT_UNREADABLE:
    'Check "openapi" and "headers" in its config entry: the document must be readable there.',
  DOCUMENT_INVALID: 'Correct the document, or report this to its author.',
  DOCUMENT_TIMEOUT: 'Raise "timeoutMs" in its config entry, or check your network.',
  MODULE_NOT_LOADED: MODULE_ITSELF,
  MODULE_NOT_READY: 'Wait a moment: it is listed as soon as it has loaded.',
  MODULE_LOAD_TIMEOUT: MODULE_ITSELF,
  MODULE_REMOVED: 'Add the module again if you still need its tools.',
  MEMORY_EXCEEDED: 'Reduce the memory use of the module, or raise its "memoryMb".',
  EXIT_CALLED: 'Remove the call to process.exit from the module.',
  EVENT_LOOP_BLOCKED: 'Make the tool wait with `await`, or work in smaller steps.',
  PROCESS_OUTPUT_INVALID: MODULE_ITSELF,
  PROCESS_OUTPUT_EXCESSIVE: 'Make the tool send progress and log messages less often.',
  TOOL_FAILED: OWN_LOG,

  ENTRY_INVALID: ITS_ENTRY,
  ENTRY_UNREADABLE: 'Register it again with the complete entry: PUT /gateways/{id}.',
  NAME_INVALID:
    'Register it under another name (POST /gateways), then delete this one (DELETE /gateways/{id}).',
  ENTRY_DISABLED: 'Enable it: PATCH /gateways/{id} with {"enabled": true}.',
  ENTRY_SHADOWED: 'Rename or remove one of the two.',
  ENTRY_CHANGED: NOTHING,
  ENTRY_REMOVED: ITS_ENTRY,
  SERVER_RESTARTED: NOTHING,

  SERVER_NOT_READY: `Wait a moment. ${BY_HAND}`,
  START_TIMEOUT: `Check the log of the server. ${BY_HAND} ${DOWNLOAD}`,
  START_FAILED: OWN_LOG,
  READING_FAILED: OWN_LOG,
  LINK_CLOSED: NOTHING,
  LINK_IDLE: NOTHING,
  LINK_REPLACED: LATER,
  CLIENT_GONE: NOTHING,
  SERVER_GONE: NOTHING,
  SHUTTING_DOWN: 'Start Assay again.',

  QUEUE_FULL: LATER_OR_RAISE,
  QUEUE_TOO_LARGE: LATER,
  INPUT_NOT_READ: 'Check the log of the server: it does not read its input.',
  REQUESTS_IN_FLIGHT: LATER_OR_RAISE,
  REQUEST_LIMIT: LATER,
  LINK_LIMIT: 'Try again later, or raise the limit if the message names one: see docs/SETTINGS.md.',
};
