import { Globe, RefreshCw, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Risk, ToolRow } from '../state/tools.ts';

export const RISK_LABELS: Readonly<Record<Risk, string>> = {
  read_only: 'Read-only',
  write: 'Write',
  destructive: 'Destructive',
  unannotated: 'Unannotated',
};

export function RiskBadge({ risk }: { readonly risk: Risk }): ReactNode {
  return <span className={`badge risk-${risk}`}>{RISK_LABELS[risk]}</span>;
}

/** What an icon alone would say is also in its label. */
export function Marks({ row }: { readonly row: ToolRow }): ReactNode {
  return (
    <>
      {row.isContradicted && (
        <span className="mark warn" title="Its hints are contradicted">
          <TriangleAlert size={14} aria-label="Contradicted" />
        </span>
      )}
      {row.isIdempotent && (
        <span className="mark" title="Idempotent: calling it again changes nothing more">
          <RefreshCw size={14} aria-label="Idempotent" />
        </span>
      )}
      {row.isOpenWorld && (
        <span className="mark" title="Open world: it may reach outside">
          <Globe size={14} aria-label="Open world" />
        </span>
      )}
    </>
  );
}
