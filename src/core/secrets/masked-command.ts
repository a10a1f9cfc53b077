const MASK = '***';

/**
 * Command arguments for display, with likely secrets masked: values of flags and variables with secret-sounding names,
 * tokens in known formats, long opaque words, all of a URL but its origin, and any occurrence of `secrets`.
 */
export function maskedArgs(args: readonly string[], secrets: readonly string[] = []): readonly string[] {
  return args.map((arg, index) => {
    const before = args[index - 1] ?? '';
    if (HEADER_FLAG.test(before)) return maskedHeader(arg);
    const isMasked = isValueOf(before, arg) && !arg.startsWith('-') && !REFERENCE.test(arg);
    return isMasked || secrets.includes(arg) ? MASK : masked(without(arg, secrets));
  });
}

/** The origin of a URL; its path and query may contain keys. */
export function maskedUrl(text: string): string {
  const url = URL.parse(text);
  return url === null || url.origin === 'null' ? '(an address with variables in it)' : url.origin;
}

/**
 * The secrets among named variables or headers: values whose name sounds like a secret, and values that are neither
 * words nor a path or URL.
 */
export function secretsAmong(named: readonly (readonly [string, string])[]): readonly string[] {
  return named.flatMap(([name, value]) => {
    const password = ADDRESS.test(value) ? URL.parse(value)?.password : undefined;
    if (password !== undefined) return password === '' ? [] : [password];
    const [, credentials = value] = /^[A-Za-z][\w-]* +(\S+)$/.exec(value) ?? [];
    if (value === '' || REFERENCE.test(credentials)) return [];
    const isSecret = SECRET_NAME.test(name) ? !PATH.test(value) : looksSecret(value);
    return isSecret ? [value, credentials] : [];
  });
}

const SECRET_NAME =
  /token|secret|passw|passphrase|passcode|(?:\b|_)pass(?:\b|_)|pwd|api[-_]?key|auth|credential|(?:\b|_)creds?\b|jwt|(?:private|access)[-_]?key|\bkey\b|_key\b|\bpat\b|bearer|cookie|session|\bdsn\b|connection[-_]?string/i;
const HEADER_FLAG = /^(?:-H|--headers?)$/;
/** `${NAME}`: a reference is not a secret. */
const REFERENCE = /^\$\{[\w:]+\}$/;
const ASSIGNMENT = /^([\w.-]+)=(.+)$/s;
/** `password=x` and `"apiKey": "x"` in the middle of an argument. */
const ASSIGNMENT_WITHIN = new RegExp(
  `([\\w.-]{0,64}(?:${SECRET_NAME.source})[\\w.-]{0,64}\\\\?["']?\\s{0,8}[:=]\\s{0,8})("(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^\\s;&]+)`,
  'gi',
);
const KNOWN_MAKE =
  /\b(?:sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|eyJ|npm_|sbp_|hf_|pk_|rk_|whsec_|shpat_)[\w.+/=-]+/g;
const LONG_WORD = /^[\w+=~-]{24,}$/;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;
const PATH = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:\\)/;

/**
 * Short options are ambiguous. The value of `-p`, usually a password or a port, is shown only if it is clearly
 * something else; the value of other options used for credentials is shown unless it looks like a secret.
 */
function isValueOf(option: string, arg: string): boolean {
  if (option === '-p') return !isPathOrNumber(arg);
  if (/^-[PtkawsuU]$/.test(option)) return looksSecret(arg);
  return option.startsWith('-') && !option.includes('=') && SECRET_NAME.test(option);
}

/** A path, file name, scoped package, number, version, or container port mapping. */
function isPathOrNumber(arg: string): boolean {
  return (
    PATH.test(arg) || /^@[\w.-]+\//.test(arg) || /^[\d.:]+(?:\/(?:tcp|udp))?$/.test(arg) || FILE.test(arg)
  );
}

const FILE = /^[\w./-]+\.(?:json|ya?ml|toml|ini|conf|cfg|env|[cm]?[jt]s|py)$/;
const MIN_SECRET_LENGTH = 8;

function looksSecret(value: string): boolean {
  const isElse = ADDRESS.test(value) || PATH.test(value) || REFERENCE.test(value);
  return value.length >= MIN_SECRET_LENGTH && !isElse && !value.split(/[\s.,:;/@_=+-]+/).every(isWord);
}

/** A word or a number, optionally with a short count or unit, or a short mix like `k8s`. */
function isWord(part: string): boolean {
  return /^(?:\p{L}*\d{0,2}|\d+\p{L}{0,2}|[\p{L}\d]{1,5})$/u.test(part);
}

/** Shorter secrets would match inside ordinary words. */
const MIN_LENGTH_WITHIN = 4;

function without(arg: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= MIN_LENGTH_WITHIN)
    .toSorted((one, other) => other.length - one.length)
    .reduce((text, secret) => text.replaceAll(secret, MASK), arg);
}

function masked(arg: string): string {
  const [, name, value] = ASSIGNMENT.exec(arg) ?? [];
  if (name !== undefined && value !== undefined)
    return `${name}=${SECRET_NAME.test(name) && !REFERENCE.test(value) ? MASK : masked(value)}`;
  const url = URL.parse(arg);
  if (url !== null && ADDRESS.test(arg)) return maskedAddress(url);
  if (/^[\w-]+:\s/.test(arg)) return maskedHeader(arg);
  if (LONG_WORD.test(arg) && /\d/.test(arg) && /[a-z]/i.test(arg)) return MASK;
  // As in `mysql -psecret`; `-project` is an option.
  if (/^-p(?![A-Za-z-]*$)/.test(arg) && !isPathOrNumber(arg.slice(2))) return `-p${MASK}`;
  return arg
    .replace(/\b(Bearer|Basic)\s+\S+/gi, `$1 ${MASK}`)
    .replace(/:\/\/[^\s/@]{1,400}@/g, `://${MASK}@`)
    .replace(ASSIGNMENT_WITHIN, (whole, named: string, given: string) =>
      REFERENCE.test(given) ? whole : `${named}${MASK}`,
    )
    .replace(KNOWN_MAKE, MASK);
}

function maskedAddress({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname.length > 1 || search !== '' ? '/…' : ''}`;
}

function maskedHeader(arg: string): string {
  const [name = '', ...rest] = arg.split(/[:=]/);
  return rest.length === 0 ? MASK : `${name}: ${MASK}`;
}
