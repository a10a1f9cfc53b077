import type { EffectKind } from '@assay-mcp/kit/verification/verdict';
import type { NoiseClass } from '@assay-mcp/sandbox/observation';

/** An effect of a call on files or the network. */
export interface Effect {
  readonly kind: EffectKind;
  readonly message: string;
  readonly target: string;
  readonly atMs: number;
  /** Set for a change of a kind that well-behaved servers also make. Such an effect decides nothing. */
  readonly noise: NoiseClass | undefined;
  /** Whether nothing but timestamps in a file differ; undefined if unknown. */
  readonly isTimestamps: boolean | undefined;
  /** Whether it is unknown what was lost. */
  readonly isUnclear: boolean;
}

/** An effect that is neither unclear nor only about timestamps. */
export function createPlainEffect(
  kind: EffectKind,
  message: string,
  target: string,
): Omit<Effect, 'atMs' | 'noise'> {
  return { kind, message, target, isTimestamps: false, isUnclear: false };
}

/** An effect of which it is unknown what it changed or lost. */
export function createUnclearEffect(
  kind: EffectKind,
  message: string,
  target: string,
): Omit<Effect, 'atMs' | 'noise'> {
  return { kind, message, target, isTimestamps: undefined, isUnclear: true };
}
