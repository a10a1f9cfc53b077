import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { Risk } from './tools.ts';

/** An effective value, such as `openWorldHint:no`. */
export type HintFilter = `${Hint}:${'yes' | 'no'}`;

/** The filters of the list are in the URL, so that a link shows the same. */
export interface ToolSearch {
  readonly q?: string;
  /** Absent: by server. */
  readonly group?: 'risk';
  readonly risk?: Risk;
  readonly hint?: HintFilter;
  /** `any`, `none` or a rule. */
  readonly lint?: string;
  readonly drift?: DriftFilter;
  readonly server?: string;
  readonly toolset?: string;
  /** The tool in the side panel. */
  readonly tool?: string;
}

export const DRIFTS = ['any', 'dangerous', 'none'] as const;
type DriftFilter = (typeof DRIFTS)[number];

const RISKS: readonly Risk[] = ['read_only', 'write', 'destructive', 'unannotated'];
const HINT = /^(readOnly|destructive|idempotent|openWorld)Hint:(yes|no)$/;

export function readToolSearch(given: Record<string, unknown>): ToolSearch {
  const text = (name: string): string | undefined => {
    const value = given[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const hint = text('hint');
  return omitEmptySearch({
    q: text('q'),
    group: given['group'] === 'risk' ? 'risk' : undefined,
    risk: RISKS.find((one) => one === given['risk']),
    hint: hint !== undefined && HINT.test(hint) ? hint : undefined,
    lint: text('lint'),
    drift: DRIFTS.find((one) => one === given['drift']),
    server: text('server'),
    toolset: text('toolset'),
    tool: text('tool'),
  });
}

export function omitEmptySearch(search: Readonly<Partial<Record<keyof ToolSearch, unknown>>>): ToolSearch {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== ''),
  );
}
