import { HINTS } from '../../core/hints/hint.ts';
import { toPrintable } from '../../core/printable.ts';
import { type PolicyRule, getRuleName } from '../../core/policy/rule.ts';
import type { PolicyRuleList } from '../../api/policy-rule.ts';
import { print, printJson, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { withApi } from './with-api.ts';
import type { JsonOptions } from './with-opened.ts';

/** `assay policy rules`: the rules in force, those of the config file first. */
export function showRules(runtime: Runtime, options: JsonOptions): Promise<number> {
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
            toPrintable(conditionsOf(rule)),
          ]),
        ),
      );
    return viewed;
  });
}

/** `tool: linear.delete_*; destructiveHint: true` */
function conditionsOf({
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
