/** A tool annotation that describes its behaviour (2025-11-25, schema#toolannotations). */
export type Hint = 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint';

export const HINTS: readonly [Hint, ...Hint[]] = [
  'readOnlyHint',
  'destructiveHint',
  'idempotentHint',
  'openWorldHint',
];

export type Hints = Readonly<Record<Hint, boolean>>;

/**
 * The specification's defaults. Each is also the cautious value: the one that makes a client expect more harm than the
 * other.
 */
export const DEFAULTS: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export function isCautious(hint: Hint, value: boolean): boolean {
  return value === DEFAULTS[hint];
}

/** The hint for which a reader that ignores case, hyphens and underscores could take a key. */
export function findMeantHint(key: string): Hint | undefined {
  const folded = key.replace(/[-_]/g, '').toLowerCase();
  return HINTS.find((hint) => hint.toLowerCase() === folded);
}

/** Stated hints; an absent one is not false. */
export type DeclaredHints = Readonly<Partial<Record<Hint, boolean>>>;

/** What each hint says of a tool, for editors of files. */
export const HINT_ABOUT: Readonly<Record<Hint, string>> = {
  readOnlyHint: 'whether it changes nothing',
  destructiveHint: 'whether it may destroy or overwrite something',
  idempotentHint: 'whether a repeated call has no further effect',
  openWorldHint: 'whether it reaches things outside a closed domain, such as the web',
};

/** The hints among these members whose values are booleans. */
export function pickDeclaredHints(members: Readonly<Record<string, unknown>>): DeclaredHints {
  const declared = HINTS.filter((hint) => Object.hasOwn(members, hint) && typeof members[hint] === 'boolean');
  return Object.fromEntries(declared.map((hint) => [hint, members[hint]]));
}

/** A tool cannot be both read-only and destructive. No setting disables this rule. Defaults never count. */
export function isContradiction({ readOnlyHint, destructiveHint }: DeclaredHints): boolean {
  return readOnlyHint === true && destructiveHint === true;
}
