import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { HintClaim, Tool } from '../../../gateway/src/api/tool.ts';

const DEFAULTS: Readonly<Record<Hint, boolean>> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export const HINT_MEANINGS: Readonly<Record<Hint, string>> = {
  readOnlyHint: 'Yes means: it does not change its environment.',
  destructiveHint:
    'Yes means: it may delete or overwrite data. Has a meaning only if the tool is not read-only.',
  idempotentHint: 'Yes means: repeating a call with the same arguments has no further effect.',
  openWorldHint: 'Yes means: it may reach external systems, such as the web.',
};

export function findOverride({ hints }: Pick<Tool, 'hints'>, hint: Hint): boolean | undefined {
  return hints[hint].claims.find(({ kind }) => kind === 'override')?.value;
}

/** What an operator set: an override or, for a tool made in Assay, a hint given when it was created. */
export function findHintSetting(tool: Pick<Tool, 'hints'>, hint: Hint): boolean | undefined {
  return findOverride(tool, hint) ?? tool.hints[hint].claims.find(isOwnDeclaration)?.value;
}

/** Whether a reset removes the claim. */
export function isOwnDeclaration({ kind, source }: HintClaim): boolean {
  return kind === 'declared' && source === 'operator';
}

/** The value that a reset leaves. */
export function getInheritedValue(
  { hints, verification }: Pick<Tool, 'hints' | 'verification'>,
  hint: Hint,
): boolean {
  if (verification?.isCurrent === true && verification.hints[hint]?.verdict === 'contradicted')
    return DEFAULTS[hint];
  const isStudied = hints[hint].claims.some(
    ({ source, value }) => source === 'study' && value === DEFAULTS[hint],
  );
  if (isStudied) return DEFAULTS[hint];
  const claim = ['declared', 'inferred']
    .map((kind) =>
      hints[hint].claims.find(
        (one) => one.kind === kind && one.suspended === undefined && !isOwnDeclaration(one),
      ),
    )
    .find((one) => one !== undefined);
  if (claim !== undefined) return claim.value;
  if (hints.readOnlyHint.effective && hint === 'destructiveHint') return false;
  if (hints.readOnlyHint.effective && hint === 'idempotentHint') return true;
  return DEFAULTS[hint];
}

/** Whether a value would make the tool explicitly both read-only and destructive. */
export function wouldContradict(tool: Pick<Tool, 'hints'>, hint: Hint, value: boolean | null): boolean {
  const other = OPPOSITE[hint];
  if (other === undefined) return false;
  const given = (name: Hint): boolean => {
    const { claims } = tool.hints[name];
    const source =
      claims.find(({ kind }) => kind === 'declared') ?? claims.find(({ kind }) => kind === 'inferred');
    return findOverride(tool, name) ?? source?.value ?? false;
  };
  const declared = tool.hints[hint].claims.find((one) => one.kind === 'declared' && !isOwnDeclaration(one));
  const own = value ?? declared?.value ?? false;
  return own && given(other);
}

export const OPPOSITE: Readonly<Partial<Record<Hint, Hint>>> = {
  readOnlyHint: 'destructiveHint',
  destructiveHint: 'readOnlyHint',
};

/** "declared yes by the server show", "overridden to no by operator on 21 Nov 2026". */
export function formatClaim({ kind, value, origin, reason, at, suspended }: HintClaim): string {
  const said = value ? 'yes' : 'no';
  const words: Readonly<Record<string, string>> = {
    declared: `declared ${said} by ${origin}`,
    inferred: `inferred ${said} from ${origin}`,
    override: `overridden to ${said} by ${origin}`,
    observed: `observed ${said} by ${origin}`,
  };
  const parts = [words[kind] ?? `${kind} ${said} by ${origin}`];
  if (at !== undefined) parts.push(`on ${DATE.format(Date.parse(at))}`);
  if (reason !== undefined) parts.push(`(${reason})`);
  if (suspended !== undefined) parts.push(`– suspended: ${suspended}`);
  return parts.join(' ');
}

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
