import { Button, SegmentedControl } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { Hint } from '../../../../gateway/src/api/hint.ts';
import type { Tool } from '../../../../gateway/src/api/tool.ts';
import {
  formatClaim,
  HINT_MEANINGS,
  getInheritedValue,
  isOwnDeclaration,
  OPPOSITE,
  findHintSetting,
  wouldContradict,
} from '../../state/hint-words.ts';
import { notify } from '../../state/notices.ts';
import { useIsAdmin } from '../../state/session.ts';
import { HINT_LABELS, type HintValues, setHints, toolQuery } from '../../state/tools.ts';
import { gatewaysQuery } from '../../state/lists.ts';
import { HostileText } from '../hostile-text.tsx';
import { ServerTrust } from '../server-trust.tsx';
import { Failed } from '../states.tsx';
import { ObservedHint } from './observed-hint.tsx';

const NAMES = Object.keys(HINT_LABELS) as readonly Hint[];

/** Each hint: the claim that decided it, all other claims, and a control for the operator. */
export function ToolHints({ tool }: { readonly tool: Tool }): ReactNode {
  const change = useHintChange(tool);
  const [clash, setClash] = useState<Hint>();
  const isAdmin = useIsAdmin();
  const choose = (hint: Hint, value: boolean | null): void => {
    const isClash = wouldContradict(tool, hint, value);
    setClash(isClash ? hint : undefined);
    if (!isClash) change.mutate({ [hint]: value });
  };
  const overridden = NAMES.filter((hint) => findHintSetting(tool, hint) !== undefined);
  return (
    <>
      {change.isError && <Failed error={change.error} />}
      {NAMES.map((hint) => (
        <div key={hint} className="hint-editor">
          <div className="hint-line">
            <strong title={HINT_MEANINGS[hint]}>{HINT_LABELS[hint]}</strong>
            <span className="hint-value">{tool.hints[hint].effective ? 'yes' : 'no'}</span>
            <SegmentedControl
              size="xs"
              aria-label={`Override of ${HINT_LABELS[hint]}`}
              disabled={!isAdmin || change.isPending}
              value={String(findHintSetting(tool, hint) ?? 'inherit')}
              onChange={(value) => choose(hint, value === 'inherit' ? null : value === 'true')}
              data={[
                { value: 'inherit', label: `Inherit: ${getInheritedValue(tool, hint) ? 'yes' : 'no'}` },
                { value: 'true', label: 'Yes' },
                { value: 'false', label: 'No' },
              ]}
            />
          </div>
          <p className="quiet small">{HINT_MEANINGS[hint]}</p>
          <Why tool={tool} hint={hint} />
          <ObservedHint tool={tool} hint={hint} />
          {clash === hint && (
            <Clash
              hint={hint}
              onBoth={(other) => {
                setClash(undefined);
                change.mutate({ [hint]: true, [other]: false });
              }}
            />
          )}
        </div>
      ))}
      <Trust tool={tool} />
      {isAdmin && overridden.length > 0 && (
        <Button
          variant="default"
          disabled={change.isPending}
          onClick={() => change.mutate(Object.fromEntries(overridden.map((hint) => [hint, null])))}
        >
          Reset all to inherit
        </Button>
      )}
    </>
  );
}

function Why({ tool, hint }: { readonly tool: Tool; readonly hint: Hint }): ReactNode {
  const { reason, claims, isContradicted, effective, decision } = tool.hints[hint];
  return (
    <ul className="claims">
      <li>
        <HostileText text={reason} />
      </li>
      {claims.map((claim, at) => (
        <li key={at}>
          <HostileText text={formatClaim(claim)} />
        </li>
      ))}
      {isContradicted && <li className="contradicted">Contradicted by observations</li>}
      {effective !== decision && (
        <li>Decisions use {decision ? 'yes' : 'no'}, because its server is not trusted</li>
      )}
    </ul>
  );
}

/** Where trust in its server would count for this tool, or does. */
function Trust({ tool }: { readonly tool: Tool }): ReactNode {
  const { data } = useQuery(gatewaysQuery);
  const trust = data?.find(({ id }) => id === tool.gatewayId)?.trust;
  if (trust === undefined || trust.origin === 'config_file') return null;
  const isHeldBack = NAMES.some((hint) => tool.hints[hint].effective !== tool.hints[hint].decision);
  return trust.value || isHeldBack ? <ServerTrust server={tool.serverName} /> : null;
}

interface ClashProps {
  readonly hint: Hint;
  readonly onBoth: (other: Hint) => void;
}

/** Shown before anything is saved. */
function Clash({ hint, onBoth }: ClashProps): ReactNode {
  const other = OPPOSITE[hint];
  if (other === undefined) return null;
  return (
    <div role="alert" className="clash">
      <TriangleAlert size={16} aria-hidden />
      <span>A tool cannot be both read-only and destructive, so the change was not saved.</span>
      <Button size="compact-xs" variant="default" onClick={() => onBoth(other)}>
        {HINT_LABELS[hint]} yes, {HINT_LABELS[other].toLowerCase()} no
      </Button>
    </div>
  );
}

/** Shows a change at once. If it is refused, reverts it and shows the reason. */
function useHintChange(tool: Tool) {
  const client = useQueryClient();
  const { queryKey } = toolQuery(tool.id);
  return useMutation({
    mutationFn: (values: HintValues) => setHints(tool.id, values),
    onMutate: async (values) => {
      await client.cancelQueries({ queryKey });
      const before = client.getQueryData(queryKey);
      client.setQueryData(queryKey, (now) => now && expected(now, values));
      return { before };
    },
    onError: (_error, _values, context) => client.setQueryData(queryKey, context?.before),
    onSuccess: (_tool, values, { before = tool }) => {
      const former = Object.fromEntries(
        Object.keys(values).map((hint) => [hint, findHintSetting(before, hint as Hint) ?? null]),
      );
      notify({
        text: `Hints of ${tool.title ?? tool.name} changed`,
        undo: () =>
          void setHints(tool.id, former).then(() => client.invalidateQueries({ queryKey: ['tools'] })),
      });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['tools'] }),
  });
}

function expected(tool: Tool, values: HintValues): Tool {
  const hints = NAMES.map((hint) => {
    const value = values[hint];
    const now = tool.hints[hint];
    if (value === undefined) return [hint, now] as const;
    const claims = now.claims.filter(
      (claim) => claim.kind !== 'override' && !(value === null && isOwnDeclaration(claim)),
    );
    return value === null
      ? ([hint, { ...now, claims, effective: getInheritedValue(tool, hint) }] as const)
      : ([
          hint,
          {
            ...now,
            effective: value,
            claims: [{ kind: 'override', source: 'operator', value, origin: 'you' }, ...claims],
          },
        ] as const);
  });
  return { ...tool, hints: Object.fromEntries(hints) as Tool['hints'] }; // every hint was visited
}
