import { createReadStream } from 'node:fs';
import type { Diagnosis } from '../core/finding.ts';
import type { Refusal } from '../core/refusal.ts';
import { formatIgnoredSetting } from '../core/resolve-settings.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ShownSettings } from '../edges/cli/runtime.ts';
import { toSettings } from '../gateway/services/preferences/preference-service.ts';
import { formatFileError } from '@assay-mcp/kit/platform/file-error';
import { readText, writeAtomically } from '@assay-mcp/kit/platform/files';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import { INTERRUPTED, waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import { withEnvironment } from './environment.ts';
import type { AppOptions, DiagnosticsOptions } from '../core/command-options.ts';
import { readConfig } from './plan.ts';

export async function readSettings(options: AppOptions): Promise<Result<ShownSettings, Refusal>> {
  // Problems in the config are part of the answer.
  return withEnvironment({ ...options, isQuiet: false, transport: 'pipe' }, async (environment) => {
    const store = await environment.store.open();
    if (!store.ok) return store;
    const read = await readConfig(environment);
    if (read.ok && read.value.absence !== undefined) return err(read.value.absence);
    if (!read.ok) return read;
    const { ignored } = read.value;
    return ok({ settings: toSettings(read.value, ignored), warnings: ignored.map(formatIgnoredSetting) });
  });
}

export async function readTextFile(path: string): Promise<Result<string, Refusal>> {
  const text = await readText(path);
  return text.ok ? text : err({ code: 'FILE_UNREADABLE', path, reason: text.error.reason });
}

/** A line of an export is some 1 kB, or 40 kB with full arguments. */
const MAX_LINE_BYTES = 1024 * 1024;

/** The lines of a file, one after the other; a line of over 1 MiB is empty. FILE_UNREADABLE */
export async function readLines(
  path: string,
  take: (line: string) => boolean,
): Promise<Result<undefined, Refusal>> {
  const state = { goesOn: true };
  const pass = (line: string): void => {
    state.goesOn &&= take(line);
  };
  const lines = new LineSplitter(MAX_LINE_BYTES, {
    line: (line) => pass(line.toString()),
    tooLong: () => pass(''),
  });
  try {
    for await (const chunk of createReadStream(path)) {
      lines.push(chunk as Buffer); // no encoding is set
      if (!state.goesOn) return ok(undefined);
    }
    lines.end();
    return ok(undefined);
  } catch (error) {
    return err({ code: 'FILE_UNREADABLE', path, reason: formatFileError(error) });
  }
}

const OWN_FILE = 0o600;

export async function writePrivateFile(path: string, text: string): Promise<Result<undefined, Refusal>> {
  const written = await writeAtomically(path, text, OWN_FILE);
  return written.ok ? written : err({ code: 'FILE_UNWRITABLE', path, reason: written.error.reason });
}

/** A signal stops the started servers, then the program. */
export async function runDiagnosis(options: DiagnosticsOptions): Promise<Diagnosis> {
  const interrupted = new AbortController();
  void waitForStop().then(() => interrupted.abort());
  const { examine } = await import('./diagnostics.ts');
  const diagnosis = await examine(options, interrupted.signal);
  if (interrupted.signal.aborted) process.exit(INTERRUPTED);
  return diagnosis;
}
