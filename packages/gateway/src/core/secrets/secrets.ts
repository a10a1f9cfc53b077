import { MASKED, maskShapes } from '@assay-mcp/kit/secret-shapes';

/** Minimum length of a secret that is masked in every text; shorter values would match everywhere. */
export const MIN_SECRET_LENGTH = 8;
/**
 * Number of leading characters that identify a secret, since whoever quotes it may truncate it. A shorter secret must
 * appear in full.
 */
const STEM = 12;
/** How many sets of values of one owner are masked: a text may still quote a former one. */
const MAX_ROTATIONS = 4;
const NOTHING = /(?!)/g;

/** The secrets known to Assay, masked in every text that may reach users or peers. */
export class Secrets {
  readonly #minLength: number;
  readonly #known = new Set<string>();
  /** Those of the known that are never forgotten. */
  readonly #permanent = new Set<string>();
  /** All forms of all secrets, by their leading characters. */
  readonly #forms = new Map<string, readonly string[]>();
  /** The last values of each owner, oldest first. */
  readonly #rotating = new Map<string, (readonly string[])[]>();
  #stems: RegExp | undefined = NOTHING;

  constructor(minLength: number = MIN_SECRET_LENGTH) {
    this.#minLength = minLength;
  }

  /** Adds values to mask; those too short are ignored. Each line of a multi-line value also counts on its own. */
  add(values: Iterable<string>): void {
    for (const value of values)
      for (const part of [value, value.trim(), ...linesOf(value)])
        if (part.length >= this.#minLength) {
          this.#permanent.add(part);
          if (!this.#known.has(part)) this.#register(part);
        }
  }

  /**
   * Adds values that replace the owner's earlier ones, such as renewed tokens. Only the last few sets are kept, so that
   * they do not add up.
   */
  addRotating(owner: string, values: readonly string[]): void {
    const kept = this.#rotating.get(owner) ?? [];
    const last = kept.at(-1);
    if (last !== undefined && values.every((value) => last.includes(value))) return;
    for (const value of values)
      if (value.length >= this.#minLength && !this.#known.has(value)) this.#register(value);
    const sets = [...kept, values].slice(-MAX_ROTATIONS);
    this.#rotating.set(owner, sets);
    const current = new Set(sets.flat());
    for (const value of kept.flat()) if (!current.has(value)) this.#forget(value);
  }

  /** The text with known secrets, and anything that looks like one, masked. */
  mask(text: string): string {
    return maskShapes(this.maskKnown(text));
  }

  #register(secret: string): void {
    this.#known.add(secret);
    for (const form of listSecretForms(secret)) {
      const stem = form.slice(0, STEM);
      const forms = this.#forms.get(stem) ?? [];
      if (!forms.includes(form)) this.#forms.set(stem, [...forms, form]);
    }
    this.#stems = undefined;
  }

  #forget(secret: string): void {
    if (this.#permanent.has(secret) || !this.#known.delete(secret)) return;
    for (const form of listSecretForms(secret)) {
      const stem = form.slice(0, STEM);
      const forms = (this.#forms.get(stem) ?? []).filter((one) => one !== form);
      if (forms.length === 0) this.#forms.delete(stem);
      else this.#forms.set(stem, forms);
    }
    this.#stems = undefined;
  }

  /** The text with known secrets masked. Overlapping matches are masked as one, so that no part of the second is left. */
  maskKnown(text: string): string {
    const stems = (this.#stems ??= compiled(this.#forms));
    stems.lastIndex = 0;
    let out = '';
    let hiddenTo = -1;
    for (let found = stems.exec(text); found !== null; found = stems.exec(text)) {
      const { index } = found;
      if (index > hiddenTo) out += text.slice(Math.max(hiddenTo, 0), index) + MASKED;
      hiddenTo = Math.max(hiddenTo, index + this.#lengthAt(text, index, found[0]));
      stems.lastIndex = index + 1;
    }
    return hiddenTo < 0 ? text : out + text.slice(hiddenTo);
  }

  /** Length of the longest match with any form of the stem. */
  #lengthAt(text: string, at: number, stem: string): number {
    let longest = stem.length;
    for (const form of this.#forms.get(stem) ?? []) {
      let length = stem.length;
      while (length < form.length && text.charCodeAt(at + length) === form.charCodeAt(length)) length += 1;
      longest = Math.max(longest, length);
    }
    return longest;
  }
}

function linesOf(value: string): readonly string[] {
  return value.includes('\n') ? value.split(/\r?\n/).filter((line) => !line.startsWith('-----')) : [];
}

/** One alternation of all stems, longest first, because the first alternative that matches is taken. */
function compiled(forms: ReadonlyMap<string, readonly string[]>): RegExp {
  if (forms.size === 0) return NOTHING;
  const stems = [...forms.keys()].sort((a, b) => b.length - a.length);
  return new RegExp(stems.map((stem) => stem.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}

/**
 * The forms a secret may take in a text: verbatim, in JSON (also nested, as when a line quotes JSON), in a URL, and in
 * base64 at each of the three possible offsets.
 */
function listSecretForms(secret: string): readonly string[] {
  const json = inJson(secret);
  const url = inUrl(secret);
  const bytes = Buffer.from(secret);
  const forms = [
    ...[secret, json, inJson(json), asciiOnly(json), json.replaceAll('/', '\\/')],
    ...[url, url.replaceAll('%20', '+'), url.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase())],
    ...[0, 1, 2].flatMap((shift) => [inBase64(bytes, shift, 'base64'), inBase64(bytes, shift, 'base64url')]),
  ];
  return [...new Set(forms)];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As written by JSON encoders that escape everything beyond ASCII. */
function asciiOnly(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Lone surrogates cannot be encoded in a URL. */
function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The base64 characters that depend only on the secret, not on the text before and after it. */
function inBase64(bytes: Buffer, shift: number, alphabet: 'base64' | 'base64url'): string {
  const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
  const from = Math.ceil((shift * 8) / 6);
  const to = Math.floor((shifted.length * 8) / 6);
  return shifted.toString(alphabet).slice(from, to);
}
