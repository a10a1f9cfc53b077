import type { Refusal } from './core/refusal.ts';
import type { Diagnosis } from './core/finding.ts';
import { ok, type Result } from './core/result.ts';
import type { CommonOptions, ExamineOptions, OpenCatalog, ShownSettings } from './edges/cli/runtime.ts';
import type { Store } from './gateway/ports/store.ts';
import { openGround, openHomeStore } from './ground.ts';
import { openCatalog, readConfig } from './opening.ts';
import { INTERRUPTED, untilStopped } from './stopping.ts';

/** A catalog that starts at once, for commands that use it and end. */
export async function openForCommand(options: CommonOptions): Promise<Result<OpenCatalog, Refusal>> {
  const opened = await openCatalog({ ...options, isQuiet: true, transport: 'pipe' });
  if (!opened.ok) return opened;
  const { start, close } = opened.value;
  start();
  void untilStopped().then(async () => {
    await close();
    process.exit(INTERRUPTED);
  });
  return opened;
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
  return read.ok ? ok({ ...read.value, configPath: read.value.config.path }) : read;
}

export async function openStoreForCommand(options: CommonOptions): Promise<Result<Store, Refusal>> {
  const ground = await openGround({ ...options, isQuiet: true, transport: 'pipe' });
  return ground.ok ? openHomeStore(ground.value) : ground;
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
