import type { TokenPreferenceList } from '../../api/token.ts';
import { isTokenPreference, TOKEN_PREFERENCES } from '../../core/policy/token-preferences.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { toWords } from '../../core/printable.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { parsePreference } from '../../gateway/services/preferences/preference-service.ts';
import type { TokenPreferenceChanges } from '../../api/token.ts';
import { print, printRefusal, printJson, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { findToken } from './token.ts';
import { apiPath, withApi } from './with-api.ts';
import type { JsonOptions } from './with-opened.ts';

interface PreferenceArguments {
  readonly token: string;
  /** A preference and its new value, or empty. */
  readonly change: readonly string[];
}

/** `assay token preferences NAME [KEY VALUE]`: shows the preferences for calls with a token, or changes one. */
export async function showTokenPreferences(
  runtime: Runtime,
  { token, change }: PreferenceArguments,
  options: JsonOptions,
): Promise<number> {
  const changes = changesIn(change);
  if (!changes.ok) return printRefusal(changes.error);
  return withApi(runtime, options, async (api) => {
    const found = token === LOCAL_USER.subject ? ok({ id: token }) : await findToken(api, token);
    if (!found.ok) return found;
    const path = apiPath`/tokens/${found.value.id}/preferences`;
    const viewed = await api.send<TokenPreferenceList>(
      change.length === 0 ? { method: 'GET', path } : { method: 'PATCH', path, body: changes.value },
    );
    if (!viewed.ok) return viewed;
    if (options.json === true) printJson(viewed.value);
    else
      print(
        formatTable(
          ['PREFERENCE', 'VALUE', 'FROM'],
          viewed.value.preferences.map((one) => [one.key, String(one.value), toWords(one.origin)]),
        ),
      );
    return viewed;
  });
}

/** `default` returns to the value of the instance. ARGUMENTS_INVALID, SETTING_INVALID */
function changesIn(change: readonly string[]): Result<TokenPreferenceChanges, Refusal> {
  const [key, text, ...more] = change;
  if (key === undefined) return ok({});
  if (!isTokenPreference(key))
    return err({
      code: 'ARGUMENTS_INVALID',
      reason: `a token has no preference ${JSON.stringify(key)}; there are ${TOKEN_PREFERENCES.join(', ')}`,
    });
  if (text === undefined || more.length > 0)
    return err({ code: 'ARGUMENTS_INVALID', reason: `give one value of ${key}, or "default"` });
  const value = text === 'default' ? ok(null) : parsePreference(key, text);
  return value.ok ? ok({ [key]: value.value }) : value;
}
