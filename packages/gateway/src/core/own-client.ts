import { isLoopbackName } from './auth-settings.ts';

/** Assay as a client of the authorization servers of its upstream servers, at its public URL. */
export interface OwnClient {
  /** Its client id: the URL of its client metadata document (SEP-991). */
  readonly url: string;
  readonly redirectUri: string;
}

const DOCUMENT_PATH = '/oauth/client.json';
const CALLBACK_PATH = '/oauth/callback';

/** Undefined if authorization servers could not read the document: they fetch it, from an https URL. */
export function computeOwnClient(publicUrl: string): OwnClient | undefined {
  const url = URL.parse(publicUrl);
  if (url?.protocol !== 'https:' || isLoopbackName(url.hostname)) return undefined;
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  return { url: base + DOCUMENT_PATH, redirectUri: base + CALLBACK_PATH };
}

/** What a request of this path is for. A proxy may have removed the path of the public URL. */
export function findOwnClientPart(path: string, own: OwnClient): 'document' | 'callback' | undefined {
  if (path === DOCUMENT_PATH || path === new URL(own.url).pathname) return 'document';
  return path === CALLBACK_PATH || path === new URL(own.redirectUri).pathname ? 'callback' : undefined;
}

export function buildClientDocument({ url, redirectUri }: OwnClient): Readonly<Record<string, unknown>> {
  return {
    client_id: url,
    client_name: 'Assay',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'web',
    // Whoever runs Assay has no key that the document could name; the code is protected by PKCE.
    token_endpoint_auth_method: 'none',
  };
}

/** Whether a text can be the URL of a client metadata document, which is then a client id. */
export function isClientDocumentUrl(text: string): boolean {
  return findClientDocumentFault(text) === undefined;
}

/** Why not, as the end of a sentence. */
export function findClientDocumentFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || text.length > MAX_LENGTH || /[\s\\"]/.test(text))
    return 'it must be an https URL';
  if (url.username !== '' || url.password !== '') return 'it must not contain a user name or password';
  if (url.pathname === '/') return 'it must have a path';
  if (url.hash !== '' || text.includes('#')) return 'it must not have a fragment';
  return /\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(text) ? 'its path must not contain "." or ".."' : undefined;
}

const MAX_LENGTH = 1_024;
