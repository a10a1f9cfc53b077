import { Command } from 'commander';
import type { Decision } from '../../api/decision.ts';
import type { Label } from '../../api/label.ts';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { toPrintable } from '@assay-mcp/kit/printable';
import { HINTS } from '@assay-mcp/kit/hint';
import { type PolicyRule, getRuleName } from '../../core/policy/rule.ts';
import type { PolicyRuleList } from '../../api/policy-rule.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import {
  print,
  printJson,
  formatProse,
  formatTable,
  printError,
} from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';
import { toToolPath, withApi, apiPath, listAll } from './with-api.ts';

/** `assay policy` with its subcommand. */
export function policyCommand(runtime: Runtime, done: Done): Command {
  const test = new Command('test')
    .argument('<name>', 'public or namespaced name of the tool')
    .argument('[arguments]', 'a JSON object, as for `assay call`; decisions do not depend on it', '{}')
    .description('explain whether a call is allowed, asked for or refused; calls nothing')
    .option('--token <name>', 'name of the token that calls (default: local)')
    .option('--toolset <name>', 'name of the toolset through which it is called')
    .option('--json', 'print JSON')
    .action(async (name: string, args: string, options: TestPolicyOptions) =>
      done(await testPolicy(runtime, { name, args }, options)),
    );
  const labels = new Command('labels')
    .description('list who has seen untrusted content or private data, or clear the labels of one')
    .option(
      '--clear <subject>',
      'name of the token whose labels no longer count; local for stdio and the command line',
    )
    .option('--json', 'print JSON')
    .action(async (options: LabelOptions) => done(await showLabels(runtime, options)));
  const rules = new Command('rules')
    .description('list the rules of the config file and of the store')
    .option('--json', 'print JSON')
    .action(async (options: JsonOptions) => done(await showRules(runtime, options)));
  return new Command('policy')
    .description('what is decided on calls of tools')
    .addCommand(withConfig(test))
    .addCommand(withConfig(rules))
    .addCommand(withConfig(labels));
}

interface TestPolicyOptions extends JsonOptions {
  readonly token?: string;
  readonly toolset?: string;
}

/** `assay policy test NAME [JSON]`: how a call would be decided, and why. Calls nothing. */
async function testPolicy(
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

interface LabelOptions extends JsonOptions {
  readonly clear?: string;
}

/**
 * `assay policy labels`: the subjects that have seen untrusted content or private data, since when, and through which
 * tool.
 */
function showLabels(runtime: Runtime, options: LabelOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const { clear: subject, json } = options;
    if (subject !== undefined) {
      const cleared = await api.send({ method: 'DELETE', path: apiPath`/labels/${subject}` });
      if (cleared.ok) printError(`The labels of ${toPrintable(JSON.stringify(subject))} are cleared.`);
      return cleared;
    }
    const listed = await listAll<Label>(api, '/labels', { name: 'labels' });
    if (!listed.ok) return listed;
    if (json === true) printJson({ labels: listed.value });
    else showLabelTable(listed.value);
    return listed;
  });
}

function showLabelTable(labels: readonly Label[]): void {
  if (labels.length === 0) print('No labels: no caller has seen untrusted content or private data.');
  else
    print(
      formatTable(
        ['SUBJECT', 'LABEL', 'BY', 'SINCE'],
        labels.map(({ subject, label, source, since }) => [
          toPrintable(subject),
          label,
          toPrintable(source),
          since,
        ]),
      ),
    );
}

/** `assay policy rules`: the rules in force, those of the config file first. */
function showRules(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const viewed = await api.send<PolicyRuleList>({ method: 'GET', path: '/policy/rules' });
    if (!viewed.ok) return viewed;
    const { rules, configFileRules } = viewed.value;
    if (options.json === true) printJson(viewed.value);
    else if (rules.length + configFileRules.length === 0) print('There are no rules.');
    else
      print(
        formatTable(
          ['RULE', 'EFFECT', 'FROM', 'CALLS'],
          [...configFileRules, ...rules].map((rule, index) => [
            toPrintable(getRuleName(rule, index)),
            rule.effect,
            index < configFileRules.length ? 'config file' : 'store',
            toPrintable(formatConditions(rule)),
          ]),
        ),
      );
    return viewed;
  });
}

/** `tool: linear.delete_*; destructiveHint: true` */
function formatConditions({
  effect: _effect,
  name: _name,
  because: _because,
  hints = {},
  ...patterns
}: PolicyRule): string {
  const conditions = [
    ...Object.entries(patterns).flatMap(([name, given]) =>
      given === undefined ? [] : [`${name}: ${given.join(', ')}`],
    ),
    ...HINTS.flatMap((hint) => (hints[hint] === undefined ? [] : [`${hint}: ${hints[hint]}`])),
  ];
  return conditions.length === 0 ? 'all' : conditions.join('; ');
}
