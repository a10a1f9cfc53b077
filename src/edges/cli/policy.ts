import type { Decision } from '../../api/decision.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { toPrintable } from '../../core/printable.ts';
import { print, printRefusal, printJson, formatProse, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { toToolPath, withApi } from './with-api.ts';
import type { JsonOptions } from './with-opened.ts';

export interface TestPolicyOptions extends JsonOptions {
  readonly token?: string;
  readonly toolset?: string;
}

/** `assay policy test NAME [JSON]`: how a call would be decided, and why. Calls nothing. */
export async function testPolicy(
  runtime: Runtime,
  { name, args }: { readonly name: string; readonly args: string },
  options: TestPolicyOptions,
): Promise<number> {
  const reason = argumentsFault(args);
  if (reason !== undefined) return printRefusal({ code: 'ARGUMENTS_INVALID', reason });
  return withApi(runtime, options, async (api) => {
    const { token, toolset } = options;
    const query = { ...(token !== undefined && { token }), ...(toolset !== undefined && { toolset }) };
    const tool = toToolPath(name);
    if (!tool.ok) return tool;
    const explained = await api.send<Decision>({ method: 'GET', path: `${tool.value}/decision`, query });
    if (!explained.ok) return explained;
    if (options.json === true) printJson(explained.value);
    else show(explained.value);
    return explained;
  });
}

/**
 * Arguments are accepted so that a command line of `assay call` can be tested unchanged. Decisions do not depend on
 * them.
 */
function argumentsFault(text: string): string | undefined {
  try {
    return isJsonObject(JSON.parse(text)) ? undefined : 'they must be one JSON object';
  } catch {
    return 'they are not JSON';
  }
}

const DECISIONS = {
  allow: 'Calls are allowed',
  call: 'Each call needs approval',
  session: 'The first call of a session needs approval',
  server: 'The first such call to its server in a session needs approval',
  refuse: 'Calls are refused',
} as const;

function show(view: Decision): void {
  const { namespacedName, decision, per, isCarriedOut, reasons, hints, rules, preferences } = view;
  print(`${toPrintable(namespacedName)}: ${decision}`);
  print(`${DECISIONS[decision === 'ask' ? (per ?? 'call') : decision]}:`);
  for (const { text } of reasons) print(formatProse(toPrintable(text), { indent: '  ' }));
  if (decision === 'ask')
    print(
      isCarriedOut
        ? 'Assay does not ask: the MCP client confirms calls ("approvals" is "client").'
        : 'Assay asks, and carries out nothing without approval ("approvals" is "gateway").',
    );
  print('');
  print(
    formatTable(
      ['HINT', 'VALUE', 'KNOWN', 'WHY'],
      hints.map(({ hint, value, isKnown, reason }) => [hint, String(value), isKnown ? 'yes' : 'no', reason]),
    ),
  );
  print('');
  if (rules.length === 0) print('There are no rules.');
  else
    print(
      formatTable(
        ['RULE', 'EFFECT', 'APPLIES'],
        rules.map(({ rule, effect, applies }) => [toPrintable(rule), effect, applies ? 'yes' : 'no']),
      ),
    );
  if (view.tags.length > 0) print(`tags: ${toPrintable(view.tags.join(', '))}`);
  if (view.labels.length > 0) print(`labels: ${view.labels.join(', ')}`);
  const confirm = view.confirm ?? preferences?.confirm;
  if (confirm !== undefined)
    print(`confirm: ${confirm} (${view.confirm === undefined ? 'policy.confirm' : 'set for this tool'})`);
}
