/**
 * Whether a field holds a credential, judging by its key: `authorization`, `apiKey`, `client-secret`. Its last word
 * may show that it only describes one: `tokenCount`, `passwordFile`.
 */
export function isCredentialKey(key: string): boolean {
  const words = wordsOf(key);
  const joined = words.join('');
  if (DESCRIBING.has(words.at(-1) ?? '') || NO_CREDENTIALS.has(joined)) return false;
  return words.some((word) => CREDENTIALS.has(word) || TOGETHER.test(word)) || TOGETHER.test(joined);
}

/** The same for a variable, header or option, where `KEY` alone also means a credential. */
export function isCredentialName(name: string): boolean {
  const last = wordsOf(name).at(-1);
  return last === 'key' || last === 'keys' || isCredentialKey(name);
}

/** `APIKey`, `api_key` and `X-Api-Key` all end with `api`, `key`. */
function wordsOf(name: string): readonly string[] {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return words.map((word) => word.toLowerCase());
}

const CREDENTIALS: ReadonlySet<string> = new Set([
  ...['auth', 'authorization', 'bearer', 'cookie', 'cookies', 'cred', 'creds', 'credential', 'credentials'],
  ...['dsn', 'jwt', 'otp', 'pass', 'passcode', 'passphrase', 'pat', 'pwd', 'sig', 'signature'],
]);
const TOGETHER =
  /(?:token|secret|password|passwd|connectionstring|(?:api|private|secret|access|auth|signing|encryption|master)keys?)s?$/;

const DESCRIBING: ReadonlySet<string> = new Set([
  ...[
    'count',
    'dir',
    'endpoint',
    'expires',
    'expiry',
    'file',
    'host',
    'length',
    'limit',
    'method',
    'mode',
    'ms',
  ],
  ...['name', 'path', 'policy', 'port', 'provider', 'scheme', 'size', 'sock', 'ttl', 'type', 'uri', 'url'],
  ...['used', 'version'],
]);
/** MCP tokens that grant no access. */
const NO_CREDENTIALS: ReadonlySet<string> = new Set(['progresstoken']);
