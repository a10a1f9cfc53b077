// The results of a run, and the views of them that tables and verdicts need.
import type { RecordCost } from './activity.ts';
import type { Sample } from './cells.ts';
import type { ListCost } from './lists.ts';
import type { Lock } from './lock.ts';
import type { Growth, Idle } from './memory.ts';
import type { Start } from './start.ts';
import { median } from './statistics.ts';
import type { HintCost } from './hints.ts';
import type { PageCost } from './pages.ts';
import type { ReplicaCost } from './replicas.ts';
import type { PolicyCost } from './policy.ts';
import type { SandboxCost } from './sandbox.ts';
import type { VerifyCost } from './verify.ts';
import type { SourceCost } from './sources.ts';
import type { ToolsetCost } from './toolsets.ts';

/** A measured value, or why it is missing. */
export type Finding<T> =
  { readonly kind: 'found'; readonly value: T } | { readonly kind: 'missing'; readonly reason: string };

export interface Results {
  readonly startedAt: string;
  readonly isQuick: boolean;
  readonly machine: {
    readonly node: string;
    readonly platform: string;
    readonly cores: number;
    readonly memoryGb: number;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly targets: readonly {
    readonly name: string;
    readonly about: string;
    readonly era: string;
    /** Why it could not be measured. */
    readonly absence: string | undefined;
  }[];
  readonly samples: readonly Sample[];
  readonly start: Finding<Start>;
  readonly list: Finding<ListCost>;
  readonly idle: Finding<Idle>;
  readonly growth: Finding<Growth>;
  readonly lock: Finding<Lock>;
  readonly toolsets: Finding<ToolsetCost>;
  readonly hints: Finding<HintCost>;
  readonly policy: Finding<PolicyCost>;
  readonly sandbox: Finding<SandboxCost>;
  readonly verify: Finding<VerifyCost>;
  readonly sources: Finding<SourceCost>;
  readonly pages: Finding<PageCost>;
  readonly activity: Finding<readonly RecordCost[]>;
  readonly replicas: Finding<ReplicaCost>;
}

export type Measure = (sample: Sample) => number | undefined;

export const callsPerSecond: Measure = (sample) => sample.callsPerSecond;
export const proxyCpu: Measure = (sample) => sample.proxyCpuMsPerCall;
export const allCpu: Measure = (sample) => sample.allCpuMsPerCall;

/** One cell of the matrix; a single wrong answer in any round voids it. */
export type Cell =
  { readonly kind: 'value'; readonly value: number } | { readonly kind: 'void' } | { readonly kind: 'empty' };

/** The median over the rounds. */
export function cellOf(
  results: Results,
  at: { readonly target: string; readonly workload: string },
  measure: Measure,
): Cell {
  const samples = samplesAt(results, at);
  if (samples.some(({ flaw }) => flaw !== undefined)) return { kind: 'void' };
  return cell(samples.map(measure));
}

/** The ratio of two targets in each round, then the median of these ratios. */
export function ratioOf(
  results: Results,
  at: { readonly target: string; readonly to: string; readonly workload: string },
  measure: Measure,
): Cell {
  const { workload } = at;
  const above = samplesAt(results, at);
  const below = samplesAt(results, { target: at.to, workload });
  if ([...above, ...below].some(({ flaw }) => flaw !== undefined)) return { kind: 'void' };
  const ratios = above.map((sample) => {
    const other = below.find(({ round }) => round === sample.round);
    const value = measure(sample);
    const base = other === undefined ? undefined : measure(other);
    return value === undefined || base === undefined || base === 0 ? undefined : value / base;
  });
  return cell(ratios);
}

function samplesAt(
  { samples }: Results,
  at: { readonly target: string; readonly workload: string },
): readonly Sample[] {
  return samples.filter(({ target, workload }) => target === at.target && workload === at.workload);
}

function cell(values: readonly (number | undefined)[]): Cell {
  const value = median(values.filter((one) => one !== undefined));
  return value === undefined ? { kind: 'empty' } : { kind: 'value', value };
}
