import type { Claim, Hint } from '../../core/hints/hint.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { isLowered } from '../../core/hints/drift.ts';
import { formatRisk } from '../../core/hints/drift-text.ts';
import { inferFromMethod } from '../../core/hints/infer.ts';
import { isInForce, type CurrentDefinition, type ToolRecord } from '../../core/hints/tool-record.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Definition } from '../ports/link.ts';
import { getDeclared, getDigest } from './definition-facts.ts';
import { getDeclarer } from './definition-source.ts';

interface Trusting {
  readonly record: ToolRecord | undefined;
  readonly isTrusted: boolean;
}

export function toDeclaredClaims(
  spec: ServerSpec,
  definition: Definition,
  { record, isTrusted }: Trusting,
): readonly Claim[] {
  const { hints } = getDeclared(definition);
  const digest = getDigest(definition);
  const declarer = getDeclarer(spec, definition);
  const atMs = record?.drift?.digest === digest ? record.drift.sinceMs : 0;
  return HINTS.flatMap((hint): readonly Claim[] => {
    const value = hints[hint];
    const mayLower = isTrusted && !isUnreviewed(hint, record, digest);
    const claim = { hint, kind: 'declared', ...declarer, atMs, digest, mayLower } as const;
    return value === undefined ? [] : [{ ...claim, value }];
  });
}

/** Whether the source now declares this hint safer than in the accepted definition. */
function isUnreviewed(hint: Hint, record: ToolRecord | undefined, digest: string): boolean {
  return record?.drift?.digest === digest && isLowered(record.drift, hint);
}

/** Hints inferred from the HTTP method of one of Assay's own tools. */
export function inferClaims(
  spec: ServerSpec,
  definition: Definition,
  { record, isTrusted }: Trusting,
): readonly Claim[] {
  const method = definition.facts?.method;
  const inference = method === undefined ? undefined : inferFromMethod(method);
  if (inference === undefined) return [];
  const { hints, reason, isSafe } = inference;
  const digest = getDigest(definition);
  return HINTS.map((hint) => ({
    hint,
    value: hints[hint],
    kind: 'inferred',
    source: 'rule',
    origin: spec.name,
    reason,
    atMs: 0,
    digest,
    mayLower: (isTrusted || isSafe) && !isUnreviewed(hint, record, digest),
  }));
}

export function toOverrideClaims(record: ToolRecord | undefined, now: CurrentDefinition): readonly Claim[] {
  if (record === undefined) return [];
  return HINTS.flatMap((hint): readonly Claim[] => {
    const override = record.overrides[hint];
    if (override === undefined) return [];
    const { value, author, atMs, reason } = override;
    return [
      {
        hint,
        value,
        kind: 'override',
        source: 'operator',
        origin: author,
        ...(reason !== undefined && { reason }),
        atMs,
        digest: override.digest,
        mayLower: true,
        ...(!isInForce(hint, override, now) && { suspended: suspension(record, now.digest) }),
      },
    ];
  });
}

function suspension({ drift }: ToolRecord, digest: string): string {
  return drift?.digest === digest
    ? `the definition changed since, and nobody has reviewed that: ${drift.risks.map(formatRisk).join('; ')}`
    : 'it was given for another definition: this one is being compared, or waits for a review';
}
