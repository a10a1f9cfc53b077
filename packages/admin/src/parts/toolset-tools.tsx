import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Toolset, ToolsetMember } from '../../../gateway/src/api/toolset.ts';
import type { Tagged } from '../state/api.ts';
import { isSame, createMembershipCheck } from '../state/members.ts';
import { useIsAdmin } from '../state/session.ts';
import { toolsQuery, type ToolRow } from '../state/tools.ts';
import { changeToolset, costsQuery } from '../state/toolsets.ts';
import { Empty, Failed, LoadingRows } from './states.tsx';
import { ToolPicker } from './tool-picker.tsx';
import { ToolsetState } from './toolset-state.tsx';

interface Draft {
  readonly members: readonly ToolsetMember[];
  /** The toolset when the edit began. Undefined once the user has been warned that someone else changed its tools. */
  readonly base: Tagged<Toolset> | undefined;
}

/** The draft is kept until it is saved, even if the connection is lost. */
export function ToolsetTools({ seen }: { readonly seen: Tagged<Toolset> }): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const tools = useQuery(toolsQuery);
  const [draft, setDraft] = useState<Draft>();
  const { name, tools: stored } = seen.value;
  const members = draft?.members ?? stored;
  const isChanged = draft !== undefined && !isSame(draft.members, stored);
  const base = draft?.base;
  // Is refused if someone else has changed the tools since the edit began.
  const etag = base === undefined || isSame(base.value.tools, stored) ? seen.etag : base.etag;
  const saving = useMutation({
    mutationFn: () => changeToolset(name, { tools: members }, etag),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['toolsets'] });
      setDraft(undefined);
    },
    onError: async () => {
      await client.invalidateQueries({ queryKey: ['toolsets'] });
      setDraft((now) => now && { ...now, base: undefined });
    },
  });
  const change = (changed: readonly ToolsetMember[]): void =>
    setDraft((now) => ({ members: changed, base: now === undefined ? seen : now.base }));
  if (tools.isPending) return <LoadingRows />;
  if (tools.data === undefined) return <Failed error={tools.error} onRetry={() => void tools.refetch()} />;
  return (
    <>
      <ToolsetState name={name} />
      {tools.data.length === 0 ? (
        <Empty title="No tools to choose from">Add a server first.</Empty>
      ) : (
        <ToolPicker rows={tools.data} members={members} isFixed={!isAdmin} onChange={change} />
      )}
      <div className="picker-foot">
        <Cost rows={tools.data} members={members} />
        {saving.isError && <Failed error={saving.error} />}
        {isChanged && (
          <>
            <Button variant="default" onClick={() => setDraft(undefined)}>
              Discard
            </Button>
            <Button loading={saving.isPending} onClick={() => saving.mutate()}>
              Save
            </Button>
          </>
        )}
      </div>
    </>
  );
}

interface CostProps {
  readonly rows: readonly ToolRow[];
  readonly members: readonly ToolsetMember[];
}

function Cost({ rows, members }: CostProps): ReactNode {
  const costs = useQuery(costsQuery);
  const chosen = rows.filter(createMembershipCheck(members));
  const sum = (some: readonly ToolRow[]): number =>
    some.reduce((total, { namespacedName }) => total + (costs.data?.[namespacedName] ?? 0), 0);
  const all = sum(rows);
  return (
    <p className="grow" role="status">
      <strong>
        {chosen.length.toLocaleString('en')} {chosen.length === 1 ? 'tool' : 'tools'}
      </strong>
      {costs.data !== undefined && (
        <>
          , {sum(chosen).toLocaleString('en')} tokens
          <span className="quiet">, of {all.toLocaleString('en')} for all</span>
        </>
      )}
      {costs.isError && <span className="quiet">; the tokens could not be counted</span>}
    </p>
  );
}
