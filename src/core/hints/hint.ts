/** What a tool says of its own behaviour (2025-11-25, schema#toolannotations). */
export type Hint = 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint';

export const HINTS: readonly Hint[] = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

export type Hints = Readonly<Record<Hint, boolean>>;

/**
 * What the specification has a tool be that does not say. Each is the cautious value as well: one that lets a client expect
 * more harm than the other.
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

/** The hint that a reader who ignores case, hyphens and underscores takes a key for. */
export function hintMeant(key: string): Hint | undefined {
  const folded = key.replace(/[-_]/g, '').toLowerCase();
  return HINTS.find((hint) => hint.toLowerCase() === folded);
}

/** What somebody says of hints: one that is absent is not false. */
export type SaidHints = Readonly<Partial<Record<Hint, boolean>>>;

/** The hints that are booleans among these members. */
export function saidHints(members: Readonly<Record<string, unknown>>): SaidHints {
  const said = HINTS.filter((hint) => Object.hasOwn(members, hint) && typeof members[hint] === 'boolean');
  return Object.fromEntries(said.map((hint) => [hint, members[hint]]));
}

/** The rule that nobody may set aside: what only reads destroys nothing. Defaults never count. */
export function isContradiction({ readOnlyHint, destructiveHint }: SaidHints): boolean {
  return readOnlyHint === true && destructiveHint === true;
}
