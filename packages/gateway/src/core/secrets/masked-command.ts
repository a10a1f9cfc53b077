import { isCredentialName } from '@assay-mcp/kit/credential-names';
import { MASKED, maskShapes } from '@assay-mcp/kit/secret-shapes';
import { looksRandom, listVariableSecrets } from './secret-values.ts';
import { Secrets } from './secrets.ts';

/** Shorter secrets would match inside ordinary words. */
const MIN_LENGTH_WITHIN = 4;

/**
 * Command arguments for display, with likely secrets masked: values of flags and variables with secret-sounding names,
 * tokens in known formats, random-looking words, all of a URL but its origin, and any occurrence of `secrets`.
 */
export function maskArgs(args: readonly string[], secrets: readonly string[] = []): readonly string[] {
  const known = new Secrets(MIN_LENGTH_WITHIN);
  known.add(secrets);
  return args.map((arg, index) => {
    const before = args[index - 1] ?? '';
    if (HEADER_FLAG.test(before)) return maskedHeader(arg);
    const isMasked = isValueOf(before, arg) && !arg.startsWith('-') && !REFERENCE.test(arg);
    return isMasked || secrets.includes(arg) ? MASKED : masked(known.maskKnown(arg));
  });
}

/** The origin of a URL; its path and query may contain keys. */
export function maskUrl(text: string): string {
  const url = URL.parse(text);
  return url === null || url.origin === 'null' ? '(an address with variables in it)' : url.origin;
}

/**
 * The secrets among named variables or headers, for display before anything of the entry has run: also values that are
 * neither words nor a path or URL.
 */
export function listNamedSecrets(named: readonly (readonly [string, string])[]): readonly string[] {
  return named.flatMap(([name, value]) => {
    const [, credentials = value] = /^[A-Za-z][\w-]* +(\S+)$/.exec(value) ?? [];
    if (REFERENCE.test(credentials)) return [];
    return [...listVariableSecrets(name, value), ...(mightBeSecret(value) ? [value] : [])].filter(Boolean);
  });
}

const HEADER_FLAG = /^(?:-H|--headers?)$/;
/** `${NAME}`: a reference is not a secret. */
const REFERENCE = /^\$\{[\w:]+\}$/;
const ASSIGNMENT = /^([\w.-]+)=(.+)$/s;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;
const PATH = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:\\)/;

/**
 * Short options are ambiguous. The value of `-p`, usually a password or a port, is shown only if it is clearly
 * something else; the value of other options used for credentials is shown unless it looks like a secret.
 */
function isValueOf(option: string, arg: string): boolean {
  if (option === '-p') return !isPathOrNumber(arg);
  if (/^-[PtkawsuU]$/.test(option)) return mightBeSecret(arg);
  return option.startsWith('-') && !option.includes('=') && isCredentialName(option);
}

/** A path, file name, scoped package, number, version, or container port mapping. */
function isPathOrNumber(arg: string): boolean {
  return (
    PATH.test(arg) || /^@[\w.-]+\//.test(arg) || /^[\d.:]+(?:\/(?:tcp|udp))?$/.test(arg) || FILE.test(arg)
  );
}

const FILE = /^[\w./-]+\.(?:json|ya?ml|toml|ini|conf|cfg|env|[cm]?[jt]s|py)$/;
const MIN_SECRET_LENGTH = 8;

function mightBeSecret(value: string): boolean {
  const isElse = ADDRESS.test(value) || PATH.test(value) || REFERENCE.test(value);
  return value.length >= MIN_SECRET_LENGTH && !isElse && !value.split(/[\s.,:;/@_=+-]+/).every(isWord);
}

/** A word or a number, optionally with a short count or unit, or a short mix like `k8s`. */
function isWord(part: string): boolean {
  return /^(?:\p{L}*\d{0,2}|\d+\p{L}{0,2}|[\p{L}\d]{1,5})$/u.test(part);
}

function masked(arg: string): string {
  const [, name, value] = ASSIGNMENT.exec(arg) ?? [];
  if (name !== undefined && value !== undefined)
    return `${name}=${isCredentialName(name) && !REFERENCE.test(value) ? MASKED : masked(value)}`;
  const url = URL.parse(arg);
  if (url !== null && ADDRESS.test(arg)) return maskedAddress(url);
  if (/^[\w-]+:\s/.test(arg)) return maskedHeader(arg);
  if (looksRandom(arg)) return MASKED;
  // As in `mysql -psecret`; `-project` is an option.
  if (/^-p(?![A-Za-z-]*$)/.test(arg) && !isPathOrNumber(arg.slice(2))) return `-p${MASKED}`;
  return maskShapes(arg);
}

function maskedAddress({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname.length > 1 || search !== '' ? '/…' : ''}`;
}

function maskedHeader(arg: string): string {
  const [name = '', ...rest] = arg.split(/[:=]/);
  return rest.length === 0 ? MASKED : `${name}: ${MASKED}`;
}
