import type { Settings } from '../settings.ts';
import { LINT_RULES, type LintLevel, type LintLevels, type LintRule } from './lint.ts';

/** The configured level of each rule. */
export function getLintLevels(settings: Settings): LintLevels {
  return {
    contradiction: settings['lint.contradiction'],
    'not-boolean': settings['lint.notBoolean'],
    'telling-words': settings['lint.tellingWords'],
    'missing-hints': settings['lint.missingHints'],
    'hidden-text': settings['lint.hiddenText'],
  };
}

/** Parses `missing-hints=off`. Undefined if the rule or level is unknown. */
export function parseLintLevel(
  text: string,
): { readonly rule: LintRule; readonly level: LintLevel } | undefined {
  const [name, given, ...more] = text.split('=');
  const rule = LINT_RULES.find((one) => one === name);
  const level = (['error', 'warning', 'off'] as const).find((one) => one === given);
  return rule === undefined || level === undefined || more.length > 0 ? undefined : { rule, level };
}
