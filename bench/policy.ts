// What decisions and the record of calls cost on the way of a call.
import { callsInPairs, type Calling, type CallPair } from './call-pairs.ts';
import type { Place } from './targets.ts';

const RULE_COUNT = 50;

export interface PolicyCost {
  readonly rules: number;
  /** With rules and `approvals: gateway`, of without rules and with `client`; nothing is recorded or asked for. */
  readonly decided: readonly CallPair[];
  /** With the record of calls, of without; everything else as before. */
  readonly recorded: readonly CallPair[];
}

/** Rejects on a wrong answer. */
export async function measurePolicy(place: Place, calling: Calling): Promise<PolicyCost> {
  const echo = await place.echo(10);
  const start = async (name: string, policy: object, settings: object): Promise<string> => {
    const mcpServers = { echo: { url: echo.endpoint, prefix: false } };
    return (await place.assay(name, { mcpServers, policy, settings })).endpoint;
  };
  const gateway = {
    approvals: 'gateway',
    'policy.alwaysConfirmDestructive': false,
    // Else each call of this tool, which may carry data out, reads the labels of its caller from the store.
    'policy.outbound': 'allow',
  };
  const plain = await start('policy-plain', {}, { 'activity.calls': false });
  const policy = { rules: rules() };
  const decided = await start('policy-decided', policy, { ...gateway, 'activity.calls': false });
  const recorded = await start('policy-recorded', policy, { ...gateway, 'activity.calls': true });
  return {
    rules: RULE_COUNT,
    decided: await callsInPairs(decided, plain, calling),
    recorded: await callsInPairs(recorded, decided, calling),
  };
}

/** Rules for tools, tokens and hints, the last of which allows the tool that is called. */
function rules(): readonly object[] {
  const others = Array.from({ length: RULE_COUNT - 1 }, (_, at) => ({
    effect: at % 2 === 0 ? 'refuse' : 'ask',
    tool: `echo.other_${String(at)}_*`,
    ...(at % 3 === 0 && { token: `ci-${String(at)}` }),
    ...(at % 5 === 0 && { hints: { destructiveHint: true } }),
  }));
  return [...others, { effect: 'allow', tool: 'echo.*' }];
}
