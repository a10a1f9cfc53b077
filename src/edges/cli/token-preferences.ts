import { isTokenPreference, TOKEN_PREFERENCES } from '../../core/policy/token-preferences.ts';
import type { SettingValue } from '../../core/record.ts';
import { inWords } from '../../core/sentences.ts';
import { SETTINGS } from '../../core/settings.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { tokenPreferenceIn } from '../../gateway/services/token-preferences.ts';
import { print, printRefusal, printJson, tableOf } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';

interface PreferenceArguments {
  readonly token: string;
  /** A preference and its new value, or empty. */
  readonly change: readonly string[];
}

/** `assay token preferences NAME [KEY VALUE]`: shows the preferences for calls with a token, or changes one. */
export async function tokenPreferences(
  runtime: Runtime,
  { token, change }: PreferenceArguments,
  options: JsonOptions,
): Promise<number> {
  const changes = changesIn(change);
  if (typeof changes === 'string') return printRefusal({ code: 'ARGUMENTS_INVALID', reason: changes });
  return withOpened(runtime.openServices(options), async ({ tokenPreferences: service }) => {
    const viewed = await (change.length === 0
      ? service.view(token)
      : service.change(token, changes, LOCAL_USER.subject));
    if (!viewed.ok) return viewed;
    if (options.json === true) printJson({ preferences: viewed.value });
    else
      print(
        tableOf(
          ['PREFERENCE', 'VALUE', 'FROM'],
          viewed.value.map((one) => [one.key, String(one.value), inWords(one.origin)]),
        ),
      );
    return viewed;
  });
}

/** `default` returns to the value of the instance. A returned string says what is wrong. */
function changesIn(change: readonly string[]): Readonly<Record<string, SettingValue | null>> | string {
  const [key, text] = change;
  if (key === undefined) return {};
  if (change.length > 2) return 'give one preference and its value';
  if (!isTokenPreference(key))
    return `a token has no preference ${JSON.stringify(key)}; there are ${TOKEN_PREFERENCES.join(', ')}`;
  if (text === 'default') return { [key]: null };
  const value = text === undefined ? undefined : tokenPreferenceIn(key, text);
  const { kind } = SETTINGS[key];
  const values = kind.type === 'choice' ? kind.of.join(', ') : 'true, false';
  return value === undefined ? `the value of ${key} must be one of ${values}, default` : { [key]: value };
}
