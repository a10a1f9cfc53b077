import { queryOptions, useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type { Decision } from '../../../gateway/src/api/decision.ts';
import type { PolicyRule, PolicyRuleList, PolicyRulesInput } from '../../../gateway/src/api/policy-rule.ts';
import { read, readTagged, formatError, write, type Tagged } from './api.ts';
import { notify } from './notices.ts';
import { isSameRule } from './rule-draft.ts';

/** With its ETag, so that an edit replaces only what was seen. */
export const rulesQuery = queryOptions({
  queryKey: ['policy', 'rules'],
  queryFn: ({ signal }) => readTagged<PolicyRuleList>('/policy/rules', signal),
});

export interface AssumedCall {
  /** Id or namespaced name. */
  readonly tool: string;
  /** Name of the caller's token. */
  readonly token: string;
  /** Empty: no toolset. */
  readonly toolset: string;
}

/** The decision by the saved rules. Calls nothing. */
export const decisionQuery = ({ tool, token, toolset }: AssumedCall) =>
  queryOptions({
    queryKey: ['policy', 'decision', tool, token, toolset],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ token, ...(toolset !== '' && { toolset }) });
      return read<Decision>(`/tools/${encodeURIComponent(tool)}/decision?${query.toString()}`, signal);
    },
    enabled: tool !== '',
  });

interface RulesChange {
  readonly seen: Tagged<PolicyRuleList>;
  readonly rules: PolicyRuleList['rules'];
}

/**
 * Shows new rules at once. Reverts them if they are refused, for example because someone else
 * changed the rules.
 */
export function useChangeRules() {
  const client = useQueryClient();
  const { queryKey } = rulesQuery;
  return useMutation({
    mutationFn: ({ seen, rules }: RulesChange) => putRules(rules, seen.etag),
    onMutate: async ({ seen, rules }) => {
      await client.cancelQueries({ queryKey });
      client.setQueryData(queryKey, { ...seen, value: { ...seen.value, rules } });
    },
    onError: (_error, { seen }) => client.setQueryData(queryKey, seen),
    onSettled: () => client.invalidateQueries({ queryKey: ['policy'] }),
  });
}

/** A change of one rule. Absent `before`: added. Absent `after`: deleted from this index. */
export interface RuleChange {
  readonly before?: PolicyRule;
  readonly after?: PolicyRule;
  readonly index: number;
}

/** Offers Undo for the change of a rule. Undo applies to the rules as they are then. */
export function offerUndo(client: QueryClient, { before, after, index }: RuleChange): void {
  const { name } = before ?? after ?? {};
  const what = name === undefined ? 'a rule' : `the rule ${name}`;
  const undo = async (): Promise<void> => {
    const { value, etag } = await readTagged<PolicyRuleList>('/policy/rules');
    const at = after === undefined ? index : value.rules.findIndex((rule) => isSameRule(rule, after));
    if (at === -1) throw new Error('someone else has changed or deleted it.');
    await putRules(
      value.rules.toSpliced(at, after === undefined ? 0 : 1, ...(before === undefined ? [] : [before])),
      etag,
    );
    await client.invalidateQueries({ queryKey: ['policy'] });
  };
  const done = before === undefined ? 'Added' : after === undefined ? 'Deleted' : 'Changed';
  notify({
    text: `${done} ${what}`,
    undo: () =>
      void undo().catch((error: unknown) =>
        notify({ text: `The change of the rule could not be undone: ${formatError(error)}` }),
      ),
  });
}

function putRules(rules: PolicyRulesInput['rules'], etag: string): Promise<PolicyRuleList> {
  return write('PUT', '/policy/rules', { rules }, etag);
}
