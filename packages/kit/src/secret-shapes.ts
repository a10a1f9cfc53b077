import { isCredentialKey, isCredentialName } from './credential-names.ts';

/** Replaces a secret. */
export const MASKED = '[masked]';

/** Masks anything that looks like a credential. The part that only names its kind stays readable. */
export function maskShapes(text: string): string {
  return MASKERS.reduce((masked, mask) => mask(masked), text);
}

/** Whether the whole text looks like a credential of a known kind. */
export function isOfKnownShape(text: string): boolean {
  return KNOWN_SHAPE.test(text);
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
const KNOWN_WITHIN = new RegExp(`(?<![\\w-])(?:${KNOWN.join('|')})`, 'g');

/** Words that may follow "Bearer" in prose. */
const IN_SENTENCES =
  'an?|and|auth|authentication|authorization|credentials?|error|format|header|is|not|or|realm|required|scheme|scope|tokens?|was|with';
const BEARER = new RegExp(`\\b(Bearer[ \\t]{1,4})(?!(?:${IN_SENTENCES})(?![\\w.~+/-]))[\\w.~+/-]+=*`, 'gi');
/** Values after `=`, quoted or not, and in a JSON string, which may itself be in one. */
const VALUE = /"[^"\\]*"?|'[^'\\]*'?|[^\s&;,#"'<>\\]+/y;
const IN_JSON = /(?:[^"\\]|\\.)*/sy;
const IN_NESTED_JSON = /(?:[^"\\]|\\[^"])*/y;
/** `${NAME}`, which is replaced by a value later, or what an earlier pattern has masked. */
const NOT_SECRET = /^["']?(?:\$\{[\w:]+\}|(?:(?:Bearer|Basic)\s+)?\[masked\])?["']?$/i;

type Masker = (text: string) => string;

interface Assignments {
  /** Everything before the value, with the name as its group. */
  readonly before: RegExp;
  /** Sticky. */
  readonly value: RegExp;
  readonly isCredential: (name: string) => boolean;
}

/** Masks the values of names that mean a credential. The value of another name may contain assignments in turn. */
function maskValues({ before, value, isCredential }: Assignments): Masker {
  return (text) => {
    let out = '';
    let from = 0;
    before.lastIndex = 0;
    for (let found = before.exec(text); found !== null; found = before.exec(text)) {
      const [, name = ''] = found;
      if (!isCredential(name)) continue;
      value.lastIndex = before.lastIndex;
      const [given = ''] = value.exec(text) ?? [];
      const isCount = /tokens$/i.test(name) && /^\d+$/.test(given);
      if (isCount || NOT_SECRET.test(given)) continue;
      out += text.slice(from, before.lastIndex) + MASKED;
      from = before.lastIndex + given.length;
      before.lastIndex = from;
    }
    return out + text.slice(from);
  };
}

/**
 * Each pattern runs in linear time: no match can start in the middle of its own prefix, and no unbounded repetition can
 * be entered twice.
 */
const MASKERS: readonly Masker[] = [
  (text) =>
    text.replace(
      /-----BEGIN ([A-Z ]{0,30}PRIVATE KEY)-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,30}-----)?/g,
      `-----BEGIN $1-----${MASKED}`,
    ),
  (text) => text.replace(BEARER, `$1${MASKED}`),
  (text) =>
    text.replace(/\b(Basic[ \t]{1,4})([A-Za-z0-9+/_-]{4,}={0,2})/gi, (whole, scheme: string, pair: string) =>
      Buffer.from(pair, 'base64').includes(':') ? `${scheme}${MASKED}` : whole,
    ),
  // A user name alone is not a secret; with a password, both are masked.
  (text) => text.replace(/:\/\/[^\s/@:"'<>]{0,200}:[^\s/@"'<>]{1,400}@/g, `://${MASKED}@`),
  // A name alone, such as `key`, shows more in a query than in prose.
  maskValues({ before: /[?&;]([\w.-]{1,64})=/g, value: VALUE, isCredential: isCredentialName }),
  maskValues({ before: /(?<![\w?&;-])([\w-]{1,64})=/g, value: VALUE, isCredential: isCredentialKey }),
  maskValues({
    before: /"([\w.-]{1,64})"\s{0,8}:\s{0,8}"/g,
    value: IN_JSON,
    isCredential: isCredentialKey,
  }),
  maskValues({
    before: /\\"([\w.-]{1,64})\\"\s{0,8}:\s{0,8}\\"/g,
    value: IN_NESTED_JSON,
    isCredential: isCredentialKey,
  }),
  (text) => text.replace(KNOWN_WITHIN, MASKED),
];
