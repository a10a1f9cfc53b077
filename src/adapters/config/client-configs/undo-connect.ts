import type { Refusal } from '../../../core/refusal.ts';
import type { Change, ConnectReport, UndoRequest } from '../../../core/client-configs.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { targetsOf, withoutOwn, type ConnectEnvironment, type Target } from './connect-client.ts';
import type { Client } from './clients.ts';
import { forgetRecord, hashOf, readRecord, type ConnectRecord } from './connect-record.ts';
import {
  readSettings,
  removeSettings,
  retryOnChange,
  wholeOf,
  writeSettings,
  type ConcurrentChange,
  type SettingsFile,
} from './settings-file.ts';

/**
 * Removes Assay from a client's config file. An unmodified file is restored byte for byte; if it was edited since, only
 * Assay's entries are removed. NOTHING_TO_UNDO if nothing was written or nothing of it is left.
 */
export async function undoConnect(
  request: UndoRequest,
  around: ConnectEnvironment,
): Promise<Result<ConnectReport, Refusal>> {
  return retryOnChange(() => undoOnce(request, around));
}

async function undoOnce(
  { client: id, project, dryRun }: UndoRequest,
  around: ConnectEnvironment,
): Promise<Result<ConnectReport, Refusal | ConcurrentChange>> {
  const targets = targetsOf({ client: id, project }, around);
  if (!targets.ok) return targets;
  for (const target of targets.value) {
    const { path } = target.file;
    const key = { assayHome: around.assayHome, client: id, path };
    const record = await readRecord(key);
    if (record === undefined) continue;
    const present = await readSettings(path);
    if (!present.ok) return present;
    const step = present.value && stepFor(record, present.value, { client: target.client, around });
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

/** Undefined if the file contains nothing of Assay any more. */
function stepFor(
  record: ConnectRecord,
  settings: SettingsFile,
  context: { readonly client: Client; readonly around: ConnectEnvironment },
): Step | undefined {
  if (record.written === hashOf(settings)) {
    const whole = record.former;
    return { change: whole === undefined ? 'removed' : 'restored', settings, whole };
  }
  const text = withoutOwn(settings.text, record, context);
  if (text === settings.text) return undefined;
  return { change: 'taken out', settings, whole: wholeOf({ ...settings, text }) };
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
  { entries }: ConnectRecord,
  { change, isDryRun }: Done,
): ConnectReport {
  const { label, next } = client;
  const { path } = file;
  const names = [...entries.keys()];
  return { client: label, path, change, isDryRun, names, preview: [], warnings: [], others: [], next };
}
