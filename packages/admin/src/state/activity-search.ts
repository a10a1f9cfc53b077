import type { CallFilter } from './calls.ts';

export interface ActivitySearch extends CallFilter {
  readonly show?: 'changes';
}

const DECISIONS = ['allow', 'ask', 'refuse'] as const;

export function readActivitySearch(given: Record<string, unknown>): ActivitySearch {
  const text = (name: string): string | undefined => {
    const value = given[name];
    // The router parses a name such as 7 as a number.
    return typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;
  };
  const [tool, subject, outcome] = [text('tool'), text('subject'), text('outcome')];
  const decision = DECISIONS.find((one) => one === given['decision']);
  const hours = Number(given['hours']);
  return {
    ...(given['show'] === 'changes' && { show: 'changes' as const }),
    ...(tool !== undefined && { tool }),
    ...(subject !== undefined && { subject }),
    ...(decision !== undefined && { decision }),
    ...(outcome !== undefined && { outcome }),
    ...(Number.isInteger(hours) && hours > 0 && hours <= 8_760 && { hours }),
  };
}
