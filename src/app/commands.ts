import type { Diagnosis } from '../core/finding.ts';
import { lintLevelsOf } from '../core/hints/lint-levels.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { OpenStore, OpenTools, OpenToolsets, ShownSettings } from '../edges/cli/runtime.ts';
import { indexOf, type ToolIndex } from '../gateway/services/toolsets/tool-index.ts';
import { readText, writeAtomically } from '../platform/files.ts';
import { INTERRUPTED, untilStopped } from '../platform/stop-signals.ts';
import { type Environment, openInEnvironment, withEnvironment } from './environment.ts';
import { openCatalog } from './open-catalog.ts';
import type { AppOptions, DiagnosticsOptions } from '../core/command-options.ts';
import { readConfig } from './plan.ts';
import { readToolsets } from './records.ts';

/** Opens a catalog and starts its servers, for a command that uses it and exits. */
export function openForCommand(options: AppOptions): Promise<Result<OpenTools, Refusal>> {
  return openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, startForCommand);
}

async function startForCommand(environment: Environment): Promise<Result<OpenTools, Refusal>> {
  const opened = await openCatalog(environment);
  if (!opened.ok) return opened;
  const { start, close, settings } = opened.value;
  start();
  void untilStopped().then(async () => {
    await close();
    process.exit(INTERRUPTED);
  });
  const showsChanged = settings['toolsets.changed'] === 'show';
  return ok({ ...opened.value, lintLevels: lintLevelsOf(settings), showsChanged });
}

export async function readSettings(options: AppOptions): Promise<Result<ShownSettings, Refusal>> {
  // Problems in the config are part of the answer.
  return withEnvironment({ ...options, isQuiet: false, transport: 'pipe' }, async (environment) => {
    const store = await environment.store.open();
    if (!store.ok) return store;
    const read = await readConfig(environment);
    if (read.ok && read.value.absence !== undefined) return err(read.value.absence);
    return read.ok ? ok({ ...read.value, configPath: read.value.config.path }) : read;
  });
}

/** Opens the toolsets of the home. Servers start only when their tools are needed. */
export function openToolsetsForCommand(options: AppOptions): Promise<Result<OpenToolsets, Refusal>> {
  return openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (environment) => {
    const toolsets = await readToolsets(environment);
    const ready = await toolsets.ready();
    if (!ready.ok) return ready;
    let catalog: OpenTools | undefined;
    const tools = async (): Promise<Result<ToolIndex, Refusal>> => {
      const opened = catalog === undefined ? await startForCommand(environment) : ok(catalog);
      if (!opened.ok) return opened;
      catalog = opened.value;
      await catalog.catalog.settled();
      return ok(indexOf(catalog.catalog.all.listing('tools')));
    };
    const circumstances = (): ReturnType<OpenToolsets['circumstances']> => ({
      servers: catalog?.catalog.servers ?? [],
      showsChanged: catalog?.showsChanged === true,
    });
    return ok({ toolsets, tools, circumstances, close: () => environment.cleanup.close() });
  });
}

export function openStoreForCommand(options: AppOptions): Promise<Result<OpenStore, Refusal>> {
  return openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async ({ store, cleanup }) => {
    const opened = await store.open();
    return opened.ok ? ok({ store: opened.value, close: () => cleanup.close() }) : opened;
  });
}

export async function readFileForCommand(path: string): Promise<Result<string, Refusal>> {
  const text = await readText(path);
  return text.ok ? text : err({ code: 'FILE_UNREADABLE', path, reason: text.error.reason });
}

const OWN_FILE = 0o600;

export async function writeFileForCommand(path: string, text: string): Promise<Result<undefined, Refusal>> {
  const written = await writeAtomically(path, text, OWN_FILE);
  return written.ok ? written : err({ code: 'FILE_UNWRITABLE', path, reason: written.error.reason });
}

/** A signal stops the started servers, then the program. */
export async function examineForCommand(options: DiagnosticsOptions): Promise<Diagnosis> {
  const interrupted = new AbortController();
  void untilStopped().then(() => interrupted.abort());
  const { examine } = await import('./diagnostics.ts');
  const diagnosis = await examine(options, interrupted.signal);
  if (interrupted.signal.aborted) process.exit(INTERRUPTED);
  return diagnosis;
}
