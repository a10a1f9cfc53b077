import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useIsAdmin } from '../state/session.ts';
import { acceptNew, newToolsQuery, unservedQuery } from '../state/toolsets.ts';
import { HostileText } from './hostile-text.tsx';
import { Failed } from './states.tsx';

/** Texts by reason code of the REST API. */
const REASONS: Readonly<Record<string, string>> = {
  disabled: 'an operator has disabled it',
  withheld: 'clients cannot read its definition',
  definition_changed: 'its definition has changed',
  definition_dangerous: 'its definition has changed in a dangerous way; review it on the page of its server',
  name_collision: 'several servers have a tool of this name',
  server_starting: 'its server is starting',
  server_down: 'its server is down',
  server_unknown: 'there is no such server',
  tool_filtered: 'excluded by "tools" of its server in the config file',
  tool_gone: 'its server does not list it now',
};

/** The tools that clients cannot use now, with the reasons, and new tools of whole servers. */
export function ToolsetState({ name }: { readonly name: string }): ReactNode {
  const unserved = useQuery(unservedQuery(name));
  return (
    <>
      {unserved.isError && <Failed error={unserved.error} />}
      {(unserved.data ?? []).length > 0 && (
        <details className="state-box">
          <summary>
            {unserved.data?.length === 1 ? '1 tool is' : `${unserved.data?.length ?? 0} tools are`} not served
            now
          </summary>
          <ul>
            {unserved.data?.map(({ tool, reason }) => (
              <li key={tool} className="wrap">
                <code>
                  <HostileText text={tool} />
                </code>{' '}
                <span className="quiet">{REASONS[reason] ?? reason}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      <NewTools name={name} />
    </>
  );
}

function NewTools({ name }: { readonly name: string }): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const fresh = useQuery(newToolsQuery(name));
  const accepting = useMutation({
    mutationFn: (tools: readonly string[]) => acceptNew(name, tools),
    onSettled: () => client.invalidateQueries({ queryKey: ['toolsets'] }),
  });
  const tools = (fresh.data ?? []).map(({ namespacedName }) => namespacedName);
  if (fresh.isError) return <Failed error={fresh.error} />;
  if (tools.length === 0) return null;
  return (
    <section className="state-box" aria-label="New tools">
      <div className="actions-line">
        <strong className="grow">
          {tools.length === 1 ? '1 new tool' : `${tools.length} new tools`} of whole servers, already served
        </strong>
        {isAdmin && (
          <Button
            size="compact-xs"
            variant="default"
            loading={accepting.isPending}
            onClick={() => accepting.mutate(tools)}
          >
            Accept {tools.length === 1 ? 'it' : 'all'}
          </Button>
        )}
      </div>
      {accepting.isError && <Failed error={accepting.error} />}
      <ul>
        {tools.map((tool) => (
          <li key={tool} className="wrap">
            <code>
              <HostileText text={tool} />
            </code>
          </li>
        ))}
      </ul>
    </section>
  );
}
