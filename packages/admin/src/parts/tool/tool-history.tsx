import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { toolHistoryQuery } from '../../state/tools.ts';
import { ChangeRow } from '../change-row.tsx';
import { Failed, LoadingRows } from '../states.tsx';

/** Operators’ changes of a tool, newest first. */
export function ToolHistory({ id }: { readonly id: string }): ReactNode {
  const history = useQuery(toolHistoryQuery(id));
  if (history.isPending) return <LoadingRows count={3} />;
  if (history.isError) return <Failed error={history.error} onRetry={() => void history.refetch()} />;
  if (history.data.length === 0) return <p className="quiet">No changes yet.</p>;
  return (
    <div className="rows">
      {history.data.map((entry) => (
        <ChangeRow key={entry.id} entry={entry} />
      ))}
    </div>
  );
}
