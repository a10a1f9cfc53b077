import { Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import { type Cause, toCauseJson, formatCause } from '../../../core/cause.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { FunctionFacts, Manifest } from '@assay-mcp/functions/function-messages';
import type { FunctionModuleSpec } from '../../../core/sources/custom-tools.ts';
import { computeMark } from '@assay-mcp/kit/digest';
import type { Log } from '../../../gateway/ports/log.ts';
import {
  type BuiltInArguments,
  type BuiltInCall,
  type BuiltInResult,
  type BuiltInSource,
  type BuiltInTool,
  type BuiltInTools,
  toErrorResult,
} from '../built-in-tool.ts';
import type { WatchFile } from '@assay-mcp/kit/platform/watch-file';
import { FileWatch } from '../file-watch.ts';
import { ModuleProcess } from './module-process.ts';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import { getModuleName, buildRunnerCommand, type RunnerLocation } from './runner-command.ts';
import { Listeners } from '../../../core/listeners.ts';

interface ModuleDeps extends RunnerLocation {
  readonly launcher: Launcher;
  readonly log: Log;
  /** If absent, a changed file takes effect at the next start of the process. */
  readonly watch?: WatchFile | undefined;
  /** A clock that is never set back. */
  readonly nowMs?: () => number;
}

/** A source whose tools are the exports of one module. The module's process starts with the first read. */
export function openModule(spec: FunctionModuleSpec, deps: ModuleDeps): BuiltInSource {
  return new ModuleSource(spec, deps);
}

interface ServingProcess {
  readonly process: ModuleProcess;
  readonly manifest: Manifest;
}

class ModuleSource implements BuiltInSource {
  readonly #spec: FunctionModuleSpec;
  readonly #deps: ModuleDeps;
  readonly #watch: FileWatch;
  readonly #nowMs: () => number;
  /** The module in a process that may not write. Undefined until a read-only tool is called. */
  #reader: ModuleSource | undefined;
  readonly #listeners = new Listeners();
  readonly #drains = new Listeners();
  /** All processes that have not ended. */
  readonly #processes = new Set<ModuleProcess>();
  #serving: ServingProcess | undefined;
  #starting: Promise<Result<ServingProcess, string>> | undefined;
  #manifest: Manifest | undefined;
  /** Why the current files could not be loaded; an older version, or none, serves meanwhile. */
  #brokenBy: string | undefined;
  #crashes: CrashRecord = NO_CRASHES;
  #changes = 0;
  #reloading: Promise<void> | undefined;
  #isClosed = false;

  constructor(spec: FunctionModuleSpec, deps: ModuleDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.#watch = new FileWatch(deps.watch, () => this.#changed());
    this.#nowMs = deps.nowMs ?? (() => performance.now());
  }

  async read(signal: AbortSignal): Promise<Result<BuiltInTools, Cause>> {
    if (this.#manifest === undefined) {
      const started = await unlessCancelled(this.#ready(), Cancellation.following(signal));
      if (!started.ok) return err({ code: 'MODULE_NOT_LOADED', reason: started.error });
    }
    const { tools = [], skipped = [] } = this.#manifest ?? {};
    const broken =
      this.#brokenBy === undefined ? [] : [{ what: getModuleName(this.#spec), why: this.#brokenBy }];
    return ok({ tools: tools.map((facts) => this.#toolOf(facts)), skipped: [...broken, ...skipped] });
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  get unreadBytes(): number {
    const own = [...this.#processes].reduce((sum, { unreadBytes }) => sum + unreadBytes, 0);
    return own + (this.#reader?.unreadBytes ?? 0);
  }

  onDrain(listener: () => void): () => void {
    return this.#drains.add(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#drains.clear();
    this.#watch.close();
    await Promise.all([this.#closeAll(), this.#reader?.close()]);
    await this.#starting;
    await this.#reloading;
    await this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#processes].map((one) => one.close({ code: 'MODULE_REMOVED' })));
  }

  #toolOf({ timeoutMs, ...definition }: FunctionFacts): BuiltInTool {
    return {
      definition,
      facts: { kind: 'function', module: computeMark(this.#spec.path) },
      timeoutMs: timeoutMs ?? this.#spec.timeoutMs,
      run: (args, call) => this.#run(definition.name, args, call),
    };
  }

  async #run(tool: string, args: BuiltInArguments, call: BuiltInCall): Promise<BuiltInResult> {
    if (call.isReadOnly === true && this.#spec.writes.length > 0)
      return this.#readerOf().#run(tool, args, call);
    const ready = await unlessCancelled(this.#ready(), call.cancellation);
    if (call.cancellation.isCancelled) throw new Cancelled();
    if (!ready.ok)
      return toErrorResult(`The functions in ${getModuleName(this.#spec)} cannot be called: ${ready.error}`);
    return ready.value.process.run(tool, args, call);
  }

  #readerOf(): ModuleSource {
    if (this.#reader !== undefined) return this.#reader;
    const { reads, writes } = this.#spec;
    this.#reader = new ModuleSource({ ...this.#spec, reads: [...reads, ...writes], writes: [] }, this.#deps);
    this.#reader.onDrain(() => this.#drained());
    if (this.#isClosed) this.#reader.#isClosed = true;
    return this.#reader;
  }

  /** The serving process; starts one if there is none. */
  async #ready(): Promise<Result<ServingProcess, string>> {
    if (this.#isClosed) return err('the module is no longer served');
    if (this.#serving !== undefined && !this.#serving.process.hasEnded) return ok(this.#serving);
    const backoff = findBackoffCause(this.#crashes, this.#nowMs());
    if (backoff !== undefined) return err(backoff);
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  async #start(): Promise<Result<ServingProcess, string>> {
    const started = await this.#startProcess();
    if (started.ok) this.#serve(started.value);
    else if (!this.#isClosed) this.#crashed({ code: 'MODULE_NOT_LOADED', reason: started.error });
    return started;
  }

  async #startProcess(): Promise<Result<ServingProcess, string>> {
    const { log } = this.#deps;
    const spec = this.#spec;
    this.#watch.add(spec.path);
    const command = await buildRunnerCommand(spec, this.#deps);
    if (!command.ok) return command;
    if (this.#isClosed) return err('the module is no longer served');
    const process = new ModuleProcess({
      spec,
      log,
      command: command.value,
      launcher: this.#deps.launcher,
      onFile: (path) => this.#watch.add(path),
      onTaken: () => this.#drained(),
    });
    this.#processes.add(process);
    void process.ended.then(() => this.#processes.delete(process));
    const loaded = await process.loaded;
    if (loaded.ok) {
      void process.ended.then((cause) => this.#gone(process, cause));
      return ok({ process, manifest: loaded.value });
    }
    await process.close({ code: 'MODULE_REMOVED' });
    return loaded;
  }

  #serve(serving: ServingProcess): void {
    const before = this.#serving;
    this.#serving = serving;
    if (before?.process.hasEnded === false) before.process.retire();
    const isOther = JSON.stringify(this.#manifest) !== JSON.stringify(serving.manifest);
    const isFirst = this.#manifest === undefined;
    const isMended = this.#brokenBy !== undefined;
    this.#manifest = serving.manifest;
    this.#brokenBy = undefined;
    if (isMended || (isOther && (!isFirst || this.#changes > 0))) this.#notify();
  }

  #notify(): void {
    this.#listeners.notify();
  }

  #drained(): void {
    this.#drains.notify();
  }

  #gone(process: ModuleProcess, cause: Cause): void {
    if (!this.#isClosed && !process.isRetired) this.#crashed(cause);
  }

  #crashed(cause: Cause): void {
    this.#crashes = addCrash(this.#crashes, cause, this.#nowMs());
    this.#deps.log.warn('process of a function module ended', {
      module: this.#spec.path,
      ...toCauseJson(cause),
    });
  }

  #changed(): void {
    this.#changes += 1;
    this.#crashes = NO_CRASHES;
    this.#reloading ??= this.#reload().finally(() => (this.#reloading = undefined));
  }

  /** A changed module takes over only once it has loaded; changes meanwhile trigger another reload. */
  async #reload(): Promise<void> {
    await this.#starting;
    let seen: number;
    do {
      seen = this.#changes;
      const started = await this.#startProcess();
      if (this.#isClosed) return;
      if (started.ok) this.#serve(started.value);
      else this.#broken(started.error);
    } while (seen !== this.#changes);
  }

  #broken(fault: string): void {
    const isServing = this.#serving !== undefined && !this.#serving.process.hasEnded;
    const message = isServing
      ? 'changed function module cannot be loaded; the previous version is still served'
      : 'changed function module cannot be loaded';
    this.#deps.log.warn(message, { module: this.#spec.path, fault });
    this.#brokenBy = `it was changed, and cannot be loaded: ${fault}`;
    this.#notify();
  }
}

/** The promise's value, or an error as soon as the call is cancelled. */
function unlessCancelled<T>(
  promise: Promise<Result<T, string>>,
  cancellation: Cancellation,
): Promise<Result<T, string>> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => resolve(err('no call is waiting for it any more'));
    cancellation.during(cancel, promise).then(resolve, reject);
  });
}

/** Recent unexpected exits of a module's process. */
export interface CrashRecord {
  readonly atMs: readonly number[];
  /** Cause of the first exit. */
  readonly firstCause: Cause | undefined;
  /** The last backoff; 0 if there was none. */
  readonly backoffMs: number;
  readonly untilMs: number;
}

export const NO_CRASHES: CrashRecord = { atMs: [], firstCause: undefined, backoffMs: 0, untilMs: -Infinity };

/** This many crashes within this time are a crash loop. */
const MANY = 3;
const SPAN_MS = 10_000;
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;

/** After this time without a crash the count starts again. */
const RESET_AFTER_MS = 2 * MAX_BACKOFF_MS;

export function addCrash(before: CrashRecord, cause: Cause, nowMs: number): CrashRecord {
  const last = Math.max(before.untilMs, before.atMs.at(-1) ?? -Infinity);
  const isLoop = before.backoffMs > 0 && nowMs - last < RESET_AFTER_MS;
  const recent = before.atMs.filter((atMs) => nowMs - atMs < SPAN_MS);
  const isFirst = !isLoop && recent.length === 0;
  const atMs = [...recent, nowMs];
  const firstCause = isFirst ? cause : before.firstCause;
  if (!isLoop && atMs.length < MANY) return { atMs, firstCause, backoffMs: 0, untilMs: -Infinity };
  const backoffMs = isLoop ? Math.min(before.backoffMs * 2, MAX_BACKOFF_MS) : FIRST_BACKOFF_MS;
  return { atMs, firstCause, backoffMs, untilMs: nowMs + backoffMs };
}

/** Why the process is in backoff. Undefined if it may start. */
export function findBackoffCause(record: CrashRecord, nowMs: number): string | undefined {
  const { firstCause } = record;
  if (nowMs >= record.untilMs || firstCause === undefined) return undefined;
  const seconds = Math.ceil((record.untilMs - nowMs) / 1000);
  return `its process keeps ending and is started again in ${seconds} s at the earliest; the first time it ${formatCause(firstCause)}`;
}
