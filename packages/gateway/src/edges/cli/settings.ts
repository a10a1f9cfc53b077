import { Command } from 'commander';
import type { PreferenceList } from '../../api/preference.ts';
import { EXIT } from '../../core/errors.ts';
import { findNearest } from '@assay-mcp/kit/nearest';
import type { SettingValue } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { toWords } from '@assay-mcp/kit/printable';
import { isFormerSetting } from '../../core/fixed-limits.ts';
import { isSettingKey, type SettingKey, SETTINGS } from '../../core/settings.ts';
import { parsePreference } from '../../gateway/services/preferences/preference-service.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import { print, printError, printJson, quoteText, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';
import { withApi } from './with-api.ts';

/** `assay settings` with its subcommands. */
export function settingsCommand(runtime: Runtime, done: Done): Command {
  const settings = new Command('settings').description('show and change settings');
  const list = new Command('list')
    .description('show all settings, their values and origins')
    .action(async (options: JsonOptions) => done(await showSettings(runtime, options)));
  const set = new Command('set')
    .description('store a value; the environment and the config file take precedence')
    .argument('<key>')
    .argument('<value>')
    .action(async (key: string, text: string, options: JsonOptions) =>
      done(await changeSetting(runtime, { key, text }, options)),
    );
  const unset = new Command('unset')
    .description('delete the stored value, so that the default applies')
    .argument('<key>')
    .action(async (key: string, options: JsonOptions) =>
      done(await changeSetting(runtime, { key, text: undefined }, options)),
    );
  for (const command of [list, set, unset])
    settings.addCommand(withConfig(command).option('--json', 'print JSON'), { isDefault: command === list });
  return settings;
}

/** `assay settings`: every setting, its value and its source. */
async function showSettings(runtime: Runtime, options: JsonOptions): Promise<number> {
  const read = await runtime.readSettings(options);
  if (!read.ok) return printRefusal(read.error);
  const { settings, warnings } = read.value;
  if (options.json === true) printJson({ settings });
  else {
    const rows = settings.map(({ key, value, origin, env, about }) => [
      key,
      String(value),
      origin === 'environment' ? env : toWords(origin),
      about,
    ]);
    print(formatTable(['SETTING', 'VALUE', 'FROM', 'MEANING'], rows));
    for (const warning of warnings) printError(`warning: ${warning}`);
  }
  return EXIT.done;
}

/** `assay settings set KEY VALUE` and `assay settings unset KEY`: stores a value, or returns to the default. */
function changeSetting(
  runtime: Runtime,
  { key: given, text }: { readonly key: string; readonly text: string | undefined },
  options: JsonOptions,
): Promise<number> {
  const key = keyIn(given);
  if (!key.ok) return Promise.resolve(printRefusal(key.error));
  const value: Result<SettingValue | null, Refusal> =
    text === undefined ? ok(null) : parsePreference(key.value, text);
  if (!value.ok) return Promise.resolve(printRefusal(value.error));
  return withApi(runtime, options, async (api) => {
    const body = { [key.value]: value.value };
    const changed = await api.send<PreferenceList>({ method: 'PATCH', path: '/preferences', body });
    if (!changed.ok) return changed;
    const [setting] = changed.value.preferences.filter((one) => one.key === key.value);
    if (setting === undefined) return changed;
    const { value: now, takesEffect } = setting;
    if (options.json === true) printJson(setting);
    else
      print(
        `${key.value} is ${text === undefined ? 'back to its default' : 'now'} ${quoteText(String(now))}. ${EFFECT[takesEffect]}`,
      );
    return changed;
  });
}

const EFFECT = {
  now: 'It is in effect.',
  'next start': 'It takes effect at the next start of Assay.',
} as const;

function keyIn(given: string): Result<SettingKey, Refusal> {
  if (isSettingKey(given)) return ok(given);
  if (isFormerSetting(given))
    return err({
      code: 'ARGUMENTS_INVALID',
      field: 'key',
      reason: `${given} is no longer a setting but a fixed limit: see \`assay docs limits\``,
    });
  const near = findNearest(given, Object.keys(SETTINGS));
  const hint = near === undefined ? '`assay settings` lists them' : `did you mean ${JSON.stringify(near)}`;
  const reason = `there is no setting ${JSON.stringify(given)}; ${hint}`;
  return err({ code: 'ARGUMENTS_INVALID', field: 'key', reason });
}
