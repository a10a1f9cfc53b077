import type { TlsFiles } from '@assay-mcp/kit/tls-files';
import { getUrlChooser, type UrlChooser } from '../../core/reach-rules.ts';
import type { AuthSpec, ProxySpec, ServerSpec } from '../../core/server-spec.ts';
import type { SignInTarget } from '../../core/sources/source-kinds.ts';

/** A server or issuer, and who chose its URL. */
export interface ServerUrl {
  readonly url: URL;
  readonly chooser: UrlChooser;
  /** Its URLs were chosen together with that of the server. */
  readonly auth?: AuthSpec | undefined;
  /** The proxy of its entry. */
  readonly proxySpec?: ProxySpec | undefined;
  /** Certificates for its origin and those that `auth` names. */
  readonly tls?: TlsFiles | undefined;
}

export function toServerUrl(spec: ServerSpec, { url, auth, tls, ...proxySpec }: SignInTarget): ServerUrl {
  return { url, chooser: getUrlChooser(spec), auth, tls, proxySpec };
}
