import { EXIT } from '../../core/errors.ts';
import { ignoredSentence, type SettingOrigin } from '../../core/resolve-settings.ts';
import { inWords } from '../../core/sentences.ts';
import type { SettingFacts } from '../../core/setting-kind.ts';
import { SETTINGS, type SettingKey } from '../../core/settings.ts';
import { printRefusal, print, printError, printJson, tableOf } from './output.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { Runtime, ShownSettings } from './runtime.ts';

/** `assay settings`: every setting, its value and its source. */
export async function showSettings(
  runtime: Runtime,
  options: AppOptions & { readonly json?: boolean },
): Promise<number> {
  const read = await runtime.readSettings(options);
  if (!read.ok) return printRefusal(read.error);
  const keys = Object.keys(SETTINGS) as SettingKey[]; // The keys of the table itself.
  const shown = keys.map((key) => shownOf(key, read.value));
  if (options.json === true) printJson({ settings: shown });
  else {
    const rows = shown.map(({ key, value, origin, variable, about }) => [
      key,
      String(value),
      origin === 'environment' ? variable : inWords(origin),
      about,
    ]);
    print(tableOf(['SETTING', 'VALUE', 'FROM', 'MEANING'], rows));
    for (const key of read.value.ignored) printError(`warning: ${ignoredSentence(key)}`);
  }
  return EXIT.done;
}

interface ShownSetting {
  readonly key: SettingKey;
  readonly value: string | number | boolean;
  readonly origin: SettingOrigin;
  readonly default: string | number | boolean;
  readonly variable: string;
  readonly changedBy: SettingFacts['changedBy'];
  readonly isStoredIgnored?: true;
  readonly about: string;
}

function shownOf(key: SettingKey, { settings, origins, ignored }: ShownSettings): ShownSetting {
  const { env: variable, kind, about, changedBy } = SETTINGS[key];
  return {
    key,
    value: settings[key],
    origin: origins[key],
    default: kind.defaultValue,
    variable,
    changedBy,
    ...(ignored.includes(key) && { isStoredIgnored: true }),
    about,
  };
}
