import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';

/** What Assay uses of RFC 9728 metadata. */
export interface ResourceMetadata {
  /** As written: it is sent to the authorization server unchanged. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[];
}

export type ServerMetadata = AuthorizationServerMetadata;

/** The endpoints for requests with a client certificate, if they have addresses of their own (RFC 8705, section 5). */
export type MtlsEndpoints = Partial<Record<(typeof MTLS_ENDPOINTS)[number], string>>;

const MTLS_ENDPOINTS = ['token_endpoint', 'revocation_endpoint'] as const;

export function readMtlsEndpoints(metadata: ServerMetadata): MtlsEndpoints {
  return Object.entries(metadata).find(([name]) => name === MTLS_ALIASES)?.[1] ?? {};
}

const MTLS_ALIASES = 'mtls_endpoint_aliases';

const MAX_TEXT = 2_048;
const MAX_ITEMS = 100;

/** The metadata of a protected resource, or why it is none. */
export function parseResourceMetadata(value: unknown): ResourceMetadata | string {
  if (!isJsonObject(value)) return 'not an object';
  const { resource } = value;
  if (typeof resource !== 'string' || resource.length > MAX_TEXT || !URL.canParse(resource))
    return 'no "resource"';
  return {
    resource,
    // An address that must not be used is an error, not a reason to look elsewhere.
    authorizationServers: listTexts(value['authorization_servers']).filter((text) => URL.canParse(text)),
    scopes: listTexts(value['scopes_supported']).filter(isScope),
  };
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint'] as const;
const OPTIONAL_ENDPOINTS = ['registration_endpoint', 'revocation_endpoint'] as const;
const LISTS = [
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint_auth_methods_supported',
  'scopes_supported',
] as const;
const FLAGS = [
  'authorization_response_iss_parameter_supported',
  'client_id_metadata_document_supported',
] as const;

/** The metadata of an authorization server (RFC 8414 or OpenID Connect Discovery), or why it is none. */
export function parseServerMetadata(value: unknown): ServerMetadata | string {
  if (!isJsonObject(value)) return 'not an object';
  const { issuer } = value;
  if (typeof issuer !== 'string' || issuer === '' || issuer.length > MAX_TEXT) return 'no "issuer"';
  const missing = ENDPOINTS.find((name) => !isWebAddress(value[name]));
  if (missing !== undefined) return `no "${missing}"`;
  const responseTypes = listTexts(value['response_types_supported']);
  return {
    issuer,
    ...pick(value, ENDPOINTS, isWebAddress),
    ...pick(value, OPTIONAL_ENDPOINTS, isWebAddress),
    ...pick(value, FLAGS, (flag) => typeof flag === 'boolean'),
    ...Object.fromEntries(
      LISTS.filter((name) => Array.isArray(value[name])).map((name) => [name, listTexts(value[name])]),
    ),
    ...(isJsonObject(value[MTLS_ALIASES]) && {
      [MTLS_ALIASES]: pick(value[MTLS_ALIASES], MTLS_ENDPOINTS, isWebAddress),
    }),
    response_types_supported: responseTypes.length > 0 ? [...responseTypes] : ['code'],
  } as ServerMetadata; // every member was checked
}

function pick(
  value: JsonObject,
  names: readonly string[],
  fits: (member: unknown) => boolean,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.filter((name) => fits(value[name])).map((name) => [name, value[name]]));
}

function listTexts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, MAX_ITEMS)
    .filter((one): one is string => typeof one === 'string' && one.length <= MAX_TEXT);
}

function isWebAddress(value: unknown): value is string {
  const url = typeof value === 'string' && value.length <= MAX_TEXT ? URL.parse(value) : null;
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
}

/** RFC 6749, section 3.3. */
function isScope(text: string): boolean {
  return text.length <= 256 && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);
}
