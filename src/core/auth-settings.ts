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

const TOO_LONG = `it must have at most ${MAX_LENGTH} characters`;

function secureUrlFault(text: string): string | undefined {
  const fault = urlFault(text, ['https:', 'http:']);
  const url = URL.parse(text);
  const isSecure = url?.protocol === 'https:' || LOOPBACK.test(url?.hostname ?? '');
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
