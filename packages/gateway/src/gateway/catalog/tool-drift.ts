import {
  isDangerous,
  computeSeverity,
  type Drift,
  type DriftRisk,
  type DriftSeverity,
} from '../../core/hints/drift.ts';
import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import {
  isInForce,
  isVolatile,
  type CurrentDefinition,
  type ToolRecord,
} from '../../core/hints/tool-record.ts';

/** How a tool differs from the accepted definition, and what follows from it. */
export interface ToolDrift {
  readonly sinceMs: number;
  readonly severity: DriftSeverity;
  /** `dangers` make the drift dangerous; `flags` only ask for a review. */
  readonly dangers: readonly DriftRisk[];
  readonly flags: readonly DriftRisk[];
  readonly changes: Drift['changes'];
  /** Hints whose override is suspended until the change is reviewed. */
  readonly suspends: readonly Hint[];
  /** Whether its prose changes at each start. */
  readonly isVolatile: boolean;
}

export function toToolDrift(
  record: ToolRecord & { readonly drift: Drift },
  now: CurrentDefinition,
): ToolDrift {
  const { drift, volatility } = record;
  const severity = computeSeverity(drift, now.prose);
  const isKnownVolatile = isVolatile(record);
  // The operator who accepted the tool knew that its prose keeps changing.
  const isExpected = isKnownVolatile && volatility?.isAccepted === true && severity === 'review';
  return {
    sinceMs: drift.sinceMs,
    severity: isExpected ? 'harmless' : severity,
    dangers: drift.risks.filter((risk) => isDangerous(risk, now.prose)),
    flags: drift.risks.filter((risk) => !isDangerous(risk, now.prose)),
    changes: drift.changes,
    suspends: findSuspendedHints(record, now),
    isVolatile: isKnownVolatile,
  };
}

/** Hints whose override does not apply to the current definition. */
export function findSuspendedHints({ overrides }: ToolRecord, now: CurrentDefinition): readonly Hint[] {
  return HINTS.filter((hint) => {
    const override = overrides[hint];
    return override !== undefined && !isInForce(hint, override, now);
  });
}
