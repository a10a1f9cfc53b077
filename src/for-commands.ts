import { openEquippedFile } from './adapters/store/equipped-file.ts';
import type { Refusal } from './core/refusal.ts';
import { lintLevelsOf } from './core/hints/lint-levels.ts';
import type { Diagnosis } from './core/finding.ts';
import { err, ok, type Result } from './core/result.ts';
import type {
  CommonOptions,
  ExamineOptions,
  OpenTools,
  OpenToolsets,
  ShownSettings,
} from './edges/cli/runtime.ts';
import type { Store } from './gateway/ports/store.ts';
import { indexOf, type ToolIndex } from './gateway/services/toolsets/tool-index.ts';
import { Toolsets } from './gateway/services/toolsets/toolsets.ts';
import { openGround, openHomeStore, setting } from './ground.ts';
import { openCatalog, readConfig } from './opening.ts';
import { readText, writeAtomically } from './platform/files.ts';
import { INTERRUPTED, untilStopped } from './stopping.ts';

/** A catalog that starts at once, for commands that use it and end. */
export async function openForCommand(options: CommonOptions): Promise<Result<OpenTools, Refusal>> {
  const opened = await openCatalog({ ...options, isQuiet: true, transport: 'pipe' });
  if (!opened.ok) return opened;
  const { start, close } = opened.value;
  start();
  void untilStopped().then(async () => {
    await close();
    process.exit(INTERRUPTED);
  });
  const { settings } = opened.value;
  const showsChanged = settings['toolsets.changed'] === 'show';
  return ok({ ...opened.value, lintLevels: lintLevelsOf(settings), showsChanged });
}

export async function readSettings(options: CommonOptions): Promise<Result<ShownSettings, Refusal>> {
  // What is wrong in the config belongs to the answer.
  const given = { ...options, isQuiet: false, transport: 'pipe' } as const;
  const ground = await openGround(given);
  if (!ground.ok) return ground;
  const store = await openHomeStore(ground.value);
  if (!store.ok) return store;
  const read = await readConfig(given, ground.value, { store: store.value });
  await store.value.close();
  if (read.ok && read.value.absence !== undefined) return err(read.value.absence);
  return read.ok ? ok({ ...read.value, configPath: read.value.config.path }) : read;
}

/** The toolsets of the home, read; the servers are started only where somebody asks for their tools. */
export async function openToolsetsForCommand(options: CommonOptions): Promise<Result<OpenToolsets, Refusal>> {
  const ground = await openGround({ ...options, isQuiet: true, transport: 'pipe' });
  if (!ground.ok) return ground;
  const memory = await openEquippedFile(ground.value.home, setting('ASSAY_DATABASE_URL'));
  const store = await openHomeStore(ground.value);
  if (!store.ok) return store;
  const open = (): Promise<typeof store> => Promise.resolve(store);
  const toolsets = new Toolsets({ open, memory, nowMs: () => Date.now() });
  let catalog: OpenTools | undefined;
  const close = async (): Promise<void> => {
    await toolsets.close();
    await catalog?.close();
    await store.value.close();
  };
  const ready = await toolsets.ready();
  if (!ready.ok) {
    await close();
    return ready;
  }
  const tools = async (): Promise<Result<ToolIndex, Refusal>> => {
    const opened = catalog === undefined ? await openForCommand(options) : ok(catalog);
    if (!opened.ok) return opened;
    catalog = opened.value;
    await catalog.catalog.settled();
    return ok(indexOf(catalog.catalog.all.listing('tools')));
  };
  const circumstances = (): ReturnType<OpenToolsets['circumstances']> => ({
    servers: catalog?.catalog.servers ?? [],
    showsChanged: catalog?.showsChanged === true,
  });
  return ok({ toolsets, tools, circumstances, close });
}

export async function openStoreForCommand(options: CommonOptions): Promise<Result<Store, Refusal>> {
  const ground = await openGround({ ...options, isQuiet: true, transport: 'pipe' });
  return ground.ok ? openHomeStore(ground.value) : ground;
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

/** A signal ends the servers that were started, and then the program. */
export async function examineForCommand(options: ExamineOptions): Promise<Diagnosis> {
  const interrupted = new AbortController();
  void untilStopped().then(() => interrupted.abort());
  const { examine } = await import('./examining.ts');
  const diagnosis = await examine(options, interrupted.signal);
  if (interrupted.signal.aborted) process.exit(INTERRUPTED);
  return diagnosis;
}
