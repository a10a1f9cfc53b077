import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ToolRow } from '../state/tools.ts';
import { HostileText } from './hostile-text.tsx';

const MAX_SHOWN = 5;

/** Lists tools that were observed to contradict their hints. */
export function ContradictedAlarm({ rows }: { readonly rows: readonly ToolRow[] }): ReactNode {
  const contradicted = rows.filter((row) => row.isContradicted);
  if (contradicted.length === 0) return null;
  const count = contradicted.length;
  return (
    <div role="alert" className="failed">
      <TriangleAlert size={18} aria-hidden />
      <span>
        {count === 1
          ? '1 tool was observed to contradict its hints'
          : `${count} tools were observed to contradict their hints`}
        :{' '}
        {contradicted.slice(0, MAX_SHOWN).map((row, at) => (
          <span key={row.id}>
            {at > 0 && ', '}
            <Link to="/tools" search={{ tool: row.id }}>
              <HostileText text={row.title} />
            </Link>
          </span>
        ))}
        {count > MAX_SHOWN && ` and ${count - MAX_SHOWN} more`}.
      </span>
    </div>
  );
}
