import { join } from 'node:path';
import type { Refusal } from '../../../core/refusal.ts';
import type { Change, ConnectReport, UndoRequest } from '../../../core/client-configs.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { listTargets, type ConnectEnvironment, type Target } from './connect-client.ts';
import {
  forgetRecord,
  hashSettingsFile,
  listRecords,
  readRecord,
  type ConnectRecord,
} from './connect-record.ts';
import { restoreClientText, type FileContext } from './former-state.ts';
import {
  readSettings,
  removeSettings,
  retryOnChange,
  getWholeText,
  writeSettings,
  type ConcurrentChange,
  type SettingsFile,
} from './settings-file.ts';

/**
 * Undoes what Assay did to a client's config file. An unmodified file is restored byte for byte; if it was edited since,
 * Assay's entries are removed and the moved ones put back. NOTHING_TO_UNDO if nothing was written or nothing of it is left.
 */
export async function undoConnect(
  request: UndoRequest,
  environment: ConnectEnvironment,
): Promise<Result<ConnectReport, Refusal>> {
  return retryOnChange(() => undoOnce(request, environment));
}

/** The files that Assay has written entries into and that can be undone, as requests for that. */
export async function listConnections(
  environment: ConnectEnvironment,
): Promise<readonly Pick<UndoRequest, 'client' | 'project'>[]> {
  const records = await listRecords(environment.assayHome);
  return records.flatMap(({ client, path }): readonly Pick<UndoRequest, 'client' | 'project'>[] => {
    const targets = listTargets({ client, project: undefined }, environment);
    if (!targets.ok) return [];
    if (targets.value.some(({ file }) => file.path === path)) return [{ client, project: undefined }];
    const { projectFile = [] } = targets.value[0]?.client ?? {};
    const project = join(path, ...projectFile.map(() => '..'));
    return projectFile.length > 0 && join(project, ...projectFile) === path ? [{ client, project }] : [];
  });
}

async function undoOnce(
  { client: id, project, dryRun }: UndoRequest,
  environment: ConnectEnvironment,
): Promise<Result<ConnectReport, Refusal | ConcurrentChange>> {
  const targets = listTargets({ client: id, project }, environment);
  if (!targets.ok) return targets;
  for (const target of targets.value) {
    const { path } = target.file;
    const key = { assayHome: environment.assayHome, client: id, path };
    const record = await readRecord(key);
    if (record === undefined) continue;
    const { isOfProject, file } = target;
    const present = await readSettings(path, isOfProject ? file.installedFolder : undefined);
    if (!present.ok) return present;
    const step =
      present.value &&
      stepFor(record, present.value, { client: target.client, ownCommand: environment.ownCommand });
    if (step === undefined) break;
    const done = dryRun ? ok(undefined) : await take(step);
    if (!done.ok) return done;
    if (!dryRun) await forgetRecord(key);
    return ok(reportOf(target, record, { change: step.change, isDryRun: dryRun }));
  }
  return err({ code: 'NOTHING_TO_UNDO', path: targets.value[0]?.file.path ?? '' });
}

interface Step {
  readonly change: Change;
  readonly settings: SettingsFile;
  /** New content of the file. Undefined if it is to be deleted. */
  readonly whole: string | undefined;
}

/** Undefined if nothing of Assay is left in the file. */
function stepFor(record: ConnectRecord, settings: SettingsFile, context: FileContext): Step | undefined {
  if (record.written === hashSettingsFile(settings)) {
    const whole = record.former;
    return { change: whole === undefined ? 'removed' : 'restored', settings, whole };
  }
  const text = restoreClientText(settings.text, record, context);
  if (text === settings.text) return undefined;
  return { change: 'taken_out', settings, whole: getWholeText({ ...settings, text }) };
}

async function take({ settings, whole }: Step): Promise<Result<undefined, Refusal | ConcurrentChange>> {
  return whole === undefined ? removeSettings(settings) : writeSettings(settings, whole);
}

interface Done {
  readonly change: Change;
  readonly isDryRun: boolean;
}

function reportOf(
  { client, file }: Target,
  { entries, moved }: ConnectRecord,
  { change, isDryRun }: Done,
): ConnectReport {
  const { label } = client;
  const { path } = file;
  const names = [...entries.keys()];
  const restored = moved.map((entry) => entry.path.at(-1) ?? '');
  return {
    client: label,
    path,
    change,
    isDryRun,
    names,
    restored,
    preview: [],
    warnings: [],
    others: [],
    next: `Restart ${label} if it is running.`,
  };
}
