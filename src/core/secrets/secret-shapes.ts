import { isCredentialKey, isCredentialName } from './credential-names.ts';

/** Replaces a secret. */
export const MASKED = '[masked]';

/** Masks anything that looks like a credential. The part that only names its kind stays readable. */
export function maskShapes(text: string): string {
  let masked = text;
  for (const { pattern, shown } of SHAPES)
    masked = typeof shown === 'string' ? masked.replace(pattern, shown) : masked.replace(pattern, shown);
  return masked;
}

/** Whether the whole text looks like a credential of a known kind. */
export function isOfKnownShape(text: string): boolean {
  return KNOWN_SHAPE.test(text);
}

interface Shape {
  readonly pattern: RegExp;
  readonly shown: string | ((...groups: string[]) => string);
}

/**
 * Tokens with a recognizable prefix: Assay, GitHub, GitLab, OpenAI, Anthropic, Stripe and its webhooks, Slack, AWS,
 * Google, npm, Hugging Face, Supabase, Shopify, ClickUp, and JSON Web Tokens.
 */
const KNOWN: readonly string[] = [
  'assay_[0-9a-f]{4,}_[A-Za-z0-9]{16,}',
  'gh[pousr]_[A-Za-z0-9]{16,}',
  'github_pat_\\w{20,}',
  'glpat-[\\w-]{16,}',
  'sk-(?=[\\w-]*\\d)[\\w-]{16,}',
  '[prs]k_(?:live|test)_\\w{16,}',
  'xox[abeoprs]-[\\w-]{8,}',
  'xapp-[\\w-]{8,}',
  'A(?:KIA|SIA)[A-Z0-9]{16}(?![\\w-])',
  'AIza[\\w-]{30,}',
  'npm_[A-Za-z0-9]{30,}',
  'hf_[A-Za-z0-9]{20,}',
  'sbp_[A-Za-z0-9]{20,}',
  'whsec_[A-Za-z0-9+/=]{16,}',
  'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}',
  'pk_\\d{4,}_[A-Z0-9]{16,}',
  'eyJ[\\w-]{5,}\\.[\\w-]{2,}\\.[\\w-]*',
];
const KNOWN_SHAPE = new RegExp(`^(?:${KNOWN.join('|')})$`);

/** Words that may follow "Bearer" in prose. */
const IN_SENTENCES =
  'an?|and|auth|authentication|authorization|credentials?|error|format|header|is|not|or|realm|required|scheme|scope|tokens?|was|with';
/** A name before `=` or `:`, and a value after `=`, quoted or not. */
const NAME = '[\\w.-]{1,64}';
const VALUE = `"[^"\\\\]*"?|'[^'\\\\]*'?|[^\\s&;,#"'<>\\\\]+`;
/** `${NAME}` is replaced by a value later. */
const REFERENCE = /^["']?\$\{[\w:]+\}["']?$/;

/** Whether the value of a member or option with such a name is a secret. */
function isSecretValue(name: string, value: string): boolean {
  const isCount = /tokens$/i.test(name) && /^\d+$/.test(value);
  return value !== '' && !isCount && !value.includes(MASKED) && !REFERENCE.test(value);
}

/**
 * Each pattern runs in linear time: no match can start in the middle of its own prefix, and no unbounded repetition can
 * be entered twice.
 */
const SHAPES: readonly Shape[] = [
  {
    pattern: /-----BEGIN ([A-Z ]{0,30}PRIVATE KEY)-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,30}-----)?/g,
    shown: `-----BEGIN $1-----${MASKED}`,
  },
  {
    pattern: new RegExp(`\\b(Bearer[ \\t]{1,4})(?!(?:${IN_SENTENCES})(?![\\w.~+/-]))[\\w.~+/-]+=*`, 'gi'),
    shown: `$1${MASKED}`,
  },
  {
    pattern: /\b(Basic[ \t]{1,4})([A-Za-z0-9+/_-]{4,}={0,2})/gi,
    shown: (whole, scheme = '', text = '') =>
      Buffer.from(text, 'base64').includes(':') ? `${scheme}${MASKED}` : whole,
  },
  // A user name alone is not a secret; with a password, both are masked.
  { pattern: /:\/\/[^\s/@:"'<>]{0,200}:[^\s/@"'<>]{1,400}@/g, shown: `://${MASKED}@` },
  // A name alone, such as `key`, shows more in a query than in prose.
  {
    pattern: new RegExp(`([?&;])(${NAME})=(${VALUE})`, 'g'),
    shown: (whole, separator = '', name = '', value = '') =>
      isCredentialName(name) && isSecretValue(name, value) ? `${separator}${name}=${MASKED}` : whole,
  },
  {
    pattern: new RegExp(`(?<![\\w?&;-])(${NAME})=(${VALUE})`, 'g'),
    shown: (whole, name = '', value = '') =>
      isCredentialKey(name) && isSecretValue(name, value) ? `${name}=${MASKED}` : whole,
  },
  // Members of JSON, and of JSON in a JSON string.
  {
    pattern: new RegExp(`("(${NAME})"\\s{0,8}:\\s{0,8}")((?:[^"\\\\]|\\\\.)*)`, 'gs'),
    shown: (whole, before = '', name = '', value = '') =>
      isCredentialKey(name) && isSecretValue(name, value) ? `${before}${MASKED}` : whole,
  },
  {
    pattern: new RegExp(`(\\\\"(${NAME})\\\\"\\s{0,8}:\\s{0,8}\\\\")((?:[^"\\\\]|\\\\[^"])*)`, 'g'),
    shown: (whole, before = '', name = '', value = '') =>
      isCredentialKey(name) && isSecretValue(name, value) ? `${before}${MASKED}` : whole,
  },
  { pattern: new RegExp(`(?<![\\w-])(?:${KNOWN.join('|')})`, 'g'), shown: MASKED },
];
