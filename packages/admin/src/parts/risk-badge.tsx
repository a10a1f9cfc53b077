import type { ReactNode } from 'react';
import type { Risk } from '../state/tools.ts';

export const RISK_LABELS: Readonly<Record<Risk, string>> = {
  read_only: 'Read-only',
  write: 'Write',
  destructive: 'Destructive',
  unannotated: 'Unannotated',
};

export function RiskBadge({ risk }: { readonly risk: Risk }): ReactNode {
  return <span className={`badge risk-${risk}`}>{RISK_LABELS[risk]}</span>;
}
