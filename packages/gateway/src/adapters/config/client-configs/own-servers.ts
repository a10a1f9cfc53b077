import type { AddedServer, AddRequest } from '../../../core/client-configs.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { setJsonMember, removeJsonMember } from '../json-edit.ts';
import { readConfigText } from '../load-config.ts';
import { type ImportEnvironment, readPresentServers, saveConfig } from './import-servers.ts';
import {
  type ConcurrentChange,
  toSettingsRefusal,
  readSettings,
  retryOnChange,
  type SettingsFile,
  getWholeText,
  writeSettings,
} from './settings-file.ts';

/**
 * Writes a server into Assay's config file; comments and formatting of the rest stay. Nothing is written on failure:
 * ARGUMENTS_INVALID (the name is taken, or the entry cannot be used), CONFIG_UNREADABLE, CONFIG_INVALID, FILE_UNWRITABLE.
 */
export function addServer(
  request: AddRequest,
  environment: ImportEnvironment,
): Promise<Result<AddedServer, Refusal>> {
  return retryOnChange(async () => {
    const own = await readSettings(environment.configPath);
    if (!own.ok) return own;
    const edited = withServer(own.value, request, environment);
    if (!edited.ok) return edited;
    const { text, isReplaced } = edited.value;
    // An insertion loses nothing.
    const isBackedUp = own.value === undefined || isReplaced;
    const saved = isBackedUp
      ? await saveConfig(own.value, text, environment)
      : await writeSettings(own.value, getWholeText({ ...own.value, text }));
    return saved.ok ? ok({ path: environment.configPath, isReplaced, backup: saved.value }) : saved;
  });
}

function withServer(
  own: SettingsFile | undefined,
  { name, entry, overwrite }: AddRequest,
  environment: ImportEnvironment,
): Result<{ readonly text: string; readonly isReplaced: boolean }, Refusal> {
  const { configPath, env, cwd, home } = environment;
  const text = own?.text ?? '';
  const present = readPresentServers(text, configPath);
  if (!present.ok) return present;
  const { names, key } = present.value;
  const there = names.get(name);
  if (there !== undefined && !overwrite) {
    const reason = `${configPath} has a server "${name}" already; choose another name, or replace it with --overwrite`;
    return err({ code: 'ARGUMENTS_INVALID', reason });
  }
  const edited = setJsonMember(text, there?.path ?? [key, name], entry);
  if (!edited.ok) return err(toSettingsRefusal(configPath, text, edited.error));
  const read = readConfigText(configPath, edited.value.text, { env, cwd, home });
  if (!read.ok) return read;
  const fault = read.value.rejected.find((one) => one.name === name)?.cause;
  if (fault?.code === 'ENTRY_INVALID')
    return err({ code: 'ARGUMENTS_INVALID', reason: `${fault.reason}. ${fault.remedy}` });
  return ok({ text: edited.value.text, isReplaced: edited.value.isReplaced });
}

/** Takes a server out of Assay's config file. SERVER_UNKNOWN, and as for `addServer`. */
export function removeServer(
  name: string,
  configPath: string,
): Promise<Result<{ readonly path: string }, Refusal>> {
  return retryOnChange(async (): Promise<Result<{ readonly path: string }, Refusal | ConcurrentChange>> => {
    const own = await readSettings(configPath);
    if (!own.ok) return own;
    const present = readPresentServers(own.value?.text ?? '', configPath);
    if (!present.ok) return present;
    const there = present.value.names.get(name);
    const text =
      own.value === undefined || there === undefined
        ? undefined
        : removeJsonMember(own.value.text, there.path);
    if (own.value === undefined || text === undefined)
      return err({ code: 'SERVER_UNKNOWN', name, known: [...present.value.names.keys()] });
    const written = await writeSettings(own.value, getWholeText({ ...own.value, text }));
    return written.ok ? ok({ path: configPath }) : written;
  });
}
