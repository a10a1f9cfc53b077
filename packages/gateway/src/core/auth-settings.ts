const MAX_LENGTH = 1_024;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Why a text is not a valid authorization server issuer (RFC 8414, section 2), as the end of a sentence. */
export function findIssuerFault(text: string): string | undefined {
  return text === '' ? undefined : (secureUrlFault(text) ?? queryFault(text));
}

/** Why a text is not a valid JWKS URL, as the end of a sentence. */
export function findJwksUriFault(text: string): string | undefined {
  return text === '' ? undefined : secureUrlFault(text);
}

/** Why a text is not a valid public URL of Assay, as the end of a sentence. */
export function findPublicUrlFault(text: string): string | undefined {
  return text === '' ? undefined : (urlFault(text, ['https:', 'http:']) ?? queryFault(text));
}

/** Why a text is not a valid `aud` value for tokens, as the end of a sentence. */
export function findAudienceFault(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return TOO_LONG;
  return /^[\x21-\x7e]*$/.test(text) ? undefined : 'it must be printable ASCII without spaces';
}

/** Why a text is not a valid endpoint or document of an authorization server, as the end of a sentence. */
export function findAuthUrlFault(text: string): string | undefined {
  return secureUrlFault(text) ?? (text.includes('#') ? 'it must not have a fragment' : undefined);
}

/** Why a text is not a valid resource indicator (RFC 8707, section 2), as the end of a sentence. */
export function findResourceFault(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return TOO_LONG;
  if (!URL.canParse(text) || /\s/.test(text)) return 'it must be an absolute URI';
  return text.includes('#') ? 'it must not have a fragment' : undefined;
}

/** Set by Assay, or able to replace what it sets. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'client_secret', 'client_assertion', 'client_assertion_type', 'code', 'code_verifier'],
  ...['code_challenge', 'code_challenge_method', 'iss', 'nonce', 'redirect_uri', 'request', 'request_uri'],
  ...['resource', 'response_mode', 'response_type', 'scope', 'state'],
]);

/** Why a parameter cannot be added to an authorization request. */
export function findParameterFault(name: string, value: string): string | undefined {
  if (OWN_PARAMETERS.has(name.toLowerCase())) return 'Assay sets this parameter itself';
  if (!/^[\w.-]{1,64}$/.test(name)) return 'this cannot be the name of a parameter';
  if (value.length > MAX_LENGTH) return `the value must have at most ${MAX_LENGTH} characters`;
  return /^[ -~]*$/.test(value) ? undefined : 'the value must be printable ASCII';
}

const TOO_LONG = `it must have at most ${MAX_LENGTH} characters`;

function secureUrlFault(text: string): string | undefined {
  const fault = urlFault(text, ['https:', 'http:']);
  const url = URL.parse(text);
  const isSecure = url?.protocol === 'https:' || isLoopbackName(url?.hostname ?? '');
  return fault ?? (isSecure ? undefined : 'it must be an https URL; http is allowed only on loopback');
}

function urlFault(text: string, protocols: readonly string[]): string | undefined {
  const url = URL.parse(text);
  if (text.length > MAX_LENGTH) return TOO_LONG;
  if (url === null || !protocols.includes(url.protocol) || /[\s\\"]/.test(text)) return 'it must be a URL';
  return url.username === '' && url.password === ''
    ? undefined
    : 'it must not contain a user name or password';
}

function queryFault(text: string): string | undefined {
  return /[?#]/.test(text) ? 'it must have neither a query nor a fragment' : undefined;
}

/** Of the host name in a URL. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** Whether a URL in `auth.publicUrl` leads to other machines. Empty: there is none. */
export function isPublicUrl(url: string): boolean {
  return url !== '' && !isLoopbackName(new URL(url).hostname);
}
