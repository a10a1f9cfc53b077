import { formatProxyFault, type ProxyFault } from '@assay-mcp/kit/outbound';
import { quote } from '@assay-mcp/kit/printable';
import type { Reach } from '@assay-mcp/kit/reach';
import { formatReachRemedy, type UrlChooser } from '../reach-rules.ts';
import { type CauseTable, HTTP_LOG, ITS_AUTHOR, NOTHING } from './cause-row.ts';

/** Causes of the connection to a server, and HTTP responses. */
export type ConnectionCause =
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
  | ProxyFault
  | { readonly code: 'CREDENTIALS_REFUSED'; readonly status: number }
  | { readonly code: 'ADDRESS_MOVED'; readonly status: number; readonly location: string | undefined }
  | { readonly code: 'ENDPOINT_NOT_FOUND'; readonly status: number }
  /** It answered with a web page. */
  | { readonly code: 'ENDPOINT_NOT_MCP' }
  /** `waitSeconds`: from its `Retry-After`. */
  | { readonly code: 'RATE_LIMITED'; readonly status: number; readonly waitSeconds?: number | undefined }
  | { readonly code: 'HTTP_SERVER_ERROR'; readonly status: number; readonly waitSeconds?: number | undefined }
  | { readonly code: 'HTTP_STATUS_UNEXPECTED'; readonly status: number }
  /** `message`: what the server answered with HTTP 400. Undefined: HTTP 404. */
  | { readonly code: 'SESSION_EXPIRED'; readonly message?: string | undefined }
  | { readonly code: 'RESPONSE_INCOMPLETE' }
  | { readonly code: 'STREAM_CLOSED' }
  | { readonly code: 'ENDPOINT_TIMEOUT' }
  | { readonly code: 'ENDPOINT_INVALID' }
  | { readonly code: 'ENDPOINT_NOT_ALLOWED' };

const NETWORK = 'Check your network, proxy and firewall, and "url".';
const PROXY =
  'Check HTTPS_PROXY or "proxy" in its config entry, and your network; "proxy": false connects directly.';

export const CONNECTION_CAUSES: CauseTable<ConnectionCause> = {
  CONNECTION_REFUSED: {
    recovery: 'time',
    text: () => 'nothing is listening at its address (ECONNREFUSED)',
    remedy: 'Start the server, or correct host and port of "url" in its config entry.',
  },
  CONNECTION_TIMEOUT: {
    recovery: 'time',
    text: () => 'its host did not respond in time (connect timeout)',
    remedy: NETWORK,
  },
  CONNECTION_CLOSED: {
    recovery: 'time',
    text: () => 'it closed the connection',
    remedy: HTTP_LOG,
  },
  CONNECTION_FAILED: {
    recovery: 'time',
    text: ({ error }) => `the connection to it failed: ${error}`,
    remedy: HTTP_LOG,
  },
  HOST_UNKNOWN: {
    recovery: 'time',
    text: ({ error }) => `its host name is not known (${error})`,
    remedy: 'Correct the host of "url" in its config entry, or check your network and DNS.',
  },
  NETWORK_UNREACHABLE: {
    recovery: 'time',
    text: ({ error }) => `its network cannot be reached (${error})`,
    remedy: NETWORK,
  },
  CERTIFICATE_INVALID: {
    recovery: 'time',
    text: ({ error }) => `its certificate is not trusted (${error})`,
    remedy: 'Check its certificate; to trust your own, set NODE_EXTRA_CA_CERTS to a file that contains it.',
  },
  TLS_FAILED: {
    recovery: 'time',
    text: ({ error }) => `an encrypted connection to it could not be established (${error})`,
    remedy: 'Check "url" in its config entry: does this port support https?',
  },
  ADDRESS_NOT_ALLOWED: {
    // A host name may resolve to another address next time.
    recovery: 'time',
    text: ({ reaches, chosenBy }) =>
      `it leads to a ${reaches.join(' and ')} address, so nothing was sent there: ${formatReachRemedy(reaches, chosenBy)}`,
    remedy: 'Allow such addresses with the setting named above, or correct "url".',
  },
  PROXY_UNREACHABLE: {
    recovery: 'time',
    text: formatProxyFault,
    remedy: PROXY,
  },
  PROXY_CREDENTIALS_REFUSED: {
    recovery: 'change',
    text: formatProxyFault,
    remedy: 'Put the user and the password of the proxy into its URL: http://USER:PASSWORD@HOST:PORT.',
  },
  PROXY_REFUSED: {
    recovery: 'time',
    text: formatProxyFault,
    remedy: 'Check that the proxy allows and can reach this host and port.',
  },
  PROXY_NOT_ALLOWED: {
    recovery: 'time',
    text: formatProxyFault,
    remedy:
      'Name another proxy. An entry that is not of the config file needs http.allowPrivate=true for a proxy at a private address.',
  },
  PROXY_INVALID: {
    recovery: 'change',
    text: formatProxyFault,
    remedy: 'Correct the variable, and restart Assay; or set "proxy" in the config entry.',
  },
  PROXY_TARGET_UNRESOLVED: {
    recovery: 'time',
    text: formatProxyFault,
    remedy:
      'Correct the host of "url", or let Assay resolve it. If only the proxy can, and you trust it to refuse internal addresses, set "proxyResolves": true in the config entry.',
  },
  CREDENTIALS_REFUSED: {
    recovery: 'change',
    text: ({ status }) =>
      `it answers HTTP ${status}: the credentials were rejected; set "headers" in its config entry`,
    remedy:
      'Set valid credentials in "headers" of its config entry, such as "Authorization": "Bearer ${TOKEN}".',
  },
  ADDRESS_MOVED: {
    recovery: 'change',
    text: ({ status, location }) =>
      location === undefined
        ? `it answers HTTP ${status}, but does not say where it has moved`
        : `it answers HTTP ${status} and points to ${quote(location)}; set that as its "url"`,
    remedy: 'Set "url" in its config entry to the new address.',
  },
  ENDPOINT_NOT_FOUND: {
    recovery: 'time',
    text: ({ status }) => `it answers HTTP ${status}`,
    remedy:
      'Correct the path of "url" in its config entry: this is not an MCP endpoint; those usually end in /mcp.',
  },
  ENDPOINT_NOT_MCP: {
    recovery: 'time',
    text: () => 'it responded with a web page, so it is not an MCP endpoint; those usually end in /mcp',
    remedy: 'Correct "url" in its config entry; see the server’s documentation for its MCP endpoint.',
  },
  RATE_LIMITED: {
    recovery: 'time',
    text: ({ status, waitSeconds }) => `it answers HTTP ${status}${waitText(waitSeconds)}`,
    remedy: 'It receives too many requests: try again later.',
  },
  HTTP_SERVER_ERROR: {
    recovery: 'time',
    text: ({ status, waitSeconds }) => `it answers HTTP ${status}${waitText(waitSeconds)}`,
    remedy: 'The server failed: check its log, or try again later.',
  },
  HTTP_STATUS_UNEXPECTED: {
    recovery: 'time',
    text: ({ status }) => `it answers HTTP ${status}`,
    remedy: HTTP_LOG,
  },
  SESSION_EXPIRED: {
    recovery: 'time',
    text: ({ message }) =>
      message === undefined
        ? 'its session has expired (HTTP 404)'
        : `its session has expired (HTTP 400: ${quote(message)})`,
    remedy: NOTHING,
  },
  RESPONSE_INCOMPLETE: {
    recovery: 'time',
    text: () => 'its response ended before the result',
    remedy: HTTP_LOG,
  },
  STREAM_CLOSED: {
    recovery: 'time',
    text: () => 'it closed its event stream',
    remedy: HTTP_LOG,
  },
  ENDPOINT_TIMEOUT: {
    recovery: 'time',
    text: () => 'it did not name its address in time',
    remedy: HTTP_LOG,
  },
  ENDPOINT_INVALID: {
    recovery: 'time',
    text: () => 'it named an address that is not a URL',
    remedy: ITS_AUTHOR,
  },
  ENDPOINT_NOT_ALLOWED: {
    recovery: 'time',
    text: () => 'it named an address of another origin',
    remedy: ITS_AUTHOR,
  },
};

function waitText(waitSeconds: number | undefined): string {
  return waitSeconds === undefined ? '' : ` and asks to wait ${waitSeconds} s`;
}
