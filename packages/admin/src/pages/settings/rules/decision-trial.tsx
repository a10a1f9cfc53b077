import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { PolicyRuleList } from '../../../../../gateway/src/api/policy-rule.ts';
import { Failed, LoadingRows } from '../../../parts/states.tsx';
import { type AssumedCall, decisionQuery } from '../../../state/policy.ts';
import { tokensQuery } from '../../../state/tokens.ts';
import { toolsetsQuery } from '../../../state/toolsets.ts';
import { DecisionResult } from './decision-result.tsx';
import { ToolSelect } from './tool-select.tsx';

const LOCAL = 'local';

interface DecisionTrialProps {
  readonly list: PolicyRuleList;
  /** Whether a rule is being edited. */
  readonly isUnsaved: boolean;
}

/** Shows how a call would be decided. Nothing is called. */
export function DecisionTrial({ list, isUnsaved }: DecisionTrialProps): ReactNode {
  const [call, setCall] = useState<AssumedCall>({ tool: '', token: LOCAL, toolset: '' });
  const tokens = useQuery(tokensQuery).data ?? [];
  const toolsets = useQuery(toolsetsQuery).data ?? [];
  const decision = useQuery(decisionQuery(call));
  const names = new Set(tokens.filter(({ state }) => state === 'valid').map(({ name }) => name));
  names.delete(LOCAL);
  return (
    <section aria-label="Try it" className="trial">
      <h2>Try it</h2>
      <p className="quiet">See how the saved rules and preferences decide a call. Nothing is called.</p>
      {isUnsaved && (
        <p className="standing due" role="status">
          The rule that you are editing applies once it is saved.
        </p>
      )}
      <div className="inline-form">
        <ToolSelect value={call.tool} onChange={(tool) => setCall({ ...call, tool })} />
        <NativeSelect
          label="Called by"
          value={call.token}
          onChange={({ currentTarget: { value } }) => setCall({ ...call, token: value })}
          data={[
            { value: LOCAL, label: 'local: stdio, command line, access without a token' },
            ...[...names].map((name) => ({ value: name, label: `token ${name}` })),
          ]}
        />
        <NativeSelect
          label="Through the toolset"
          value={call.toolset}
          onChange={({ currentTarget: { value } }) => setCall({ ...call, toolset: value })}
          data={[{ value: '', label: 'none' }, ...toolsets.map(({ name }) => name)]}
        />
      </div>
      {call.tool !== '' && decision.isPending && <LoadingRows count={3} />}
      {decision.isError && <Failed error={decision.error} onRetry={() => void decision.refetch()} />}
      {decision.data !== undefined && call.tool !== '' && (
        <DecisionResult decision={decision.data} list={list} />
      )}
    </section>
  );
}
