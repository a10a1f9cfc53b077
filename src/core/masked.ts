const MASK = '***';

/**
 * Arguments of a command for people to read, with what may be a secret masked: values of flags and variables that sound
 * like one, tokens of known make, long opaque words, and all of a URL but its origin.
 */
export function maskedArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const before = args[index - 1] ?? '';
    if (HEADER_FLAG.test(before)) return maskedHeader(arg);
    const isValue = before.startsWith('-') && !before.includes('=') && SECRETIVE.test(before);
    return isValue && !arg.startsWith('-') && !REFERENCE.test(arg) ? MASK : masked(arg);
  });
}

/** The origin of an address; its path and query may hold keys. */
export function maskedUrl(text: string): string {
  const url = URL.parse(text);
  return url === null || url.origin === 'null' ? '(an address with variables in it)' : url.origin;
}

const SECRETIVE =
  /token|secret|passw|pwd|api[-_]?key|auth|credential|(?:private|access)[-_]?key|\bkey\b|_key\b|\bpat\b|bearer|cookie|session|\bdsn\b|connection[-_]?string/i;
const HEADER_FLAG = /^(?:-H|--headers?)$/;
/** `${NAME}`: a name is no secret. */
const REFERENCE = /^\$\{[\w:]+\}$/;
const ASSIGNMENT = /^([\w.-]+)=(.+)$/s;
const KNOWN_MAKE =
  /\b(?:sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|eyJ|npm_|sbp_|hf_|pk_|rk_|whsec_|shpat_)[\w.+/=-]+/g;
const LONG_WORD = /^[\w+=~-]{24,}$/;

function masked(arg: string): string {
  const [, name, value] = ASSIGNMENT.exec(arg) ?? [];
  if (name !== undefined && value !== undefined)
    return `${name}=${SECRETIVE.test(name) && !REFERENCE.test(value) ? MASK : masked(value)}`;
  const url = URL.parse(arg);
  if (url !== null && /^[a-z][a-z\d+.-]*:\/\//i.test(arg)) return maskedAddress(url);
  if (/^[\w-]+:\s/.test(arg)) return maskedHeader(arg);
  if (LONG_WORD.test(arg) && /\d/.test(arg) && /[a-z]/i.test(arg)) return MASK;
  return arg.replace(KNOWN_MAKE, MASK).replace(/\b(Bearer|Basic)\s+\S+/gi, `$1 ${MASK}`);
}

function maskedAddress({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname.length > 1 || search !== '' ? '/…' : ''}`;
}

function maskedHeader(arg: string): string {
  const [name = '', ...rest] = arg.split(/[:=]/);
  return rest.length === 0 ? MASK : `${name}: ${MASK}`;
}
