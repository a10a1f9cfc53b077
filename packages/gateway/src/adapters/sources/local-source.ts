import { type Cause, formatCause } from '../../core/cause.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { FunctionModuleSpec, RestToolSpec } from '../../core/sources/custom-tools.ts';
import type { CustomTools } from '../../core/server-spec.ts';
import type { Skipped } from '../../gateway/ports/link.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import type { BuiltInSource, BuiltInTool, BuiltInTools } from './built-in-tool.ts';
import { Listeners } from '../../core/listeners.ts';

export interface LocalSourceOptions {
  /** The error is a phrase. */
  readonly makeTool: (spec: RestToolSpec) => Result<BuiltInTool, string>;
  readonly openModule: (spec: FunctionModuleSpec) => BuiltInSource;
}

interface OpenModule {
  readonly source: BuiltInSource;
  readonly endListening: () => void;
  /** Result of a read that finished too late for its list; the next list takes it. */
  late?: Result<BuiltInTools, Cause> | undefined;
  isAwaited?: boolean;
}

/** How long a list waits for a module: one that never loads must not block the other tools. */
const READ_WAIT_MS = 3_000;

/** The operator's REST tools and function modules. */
export class LocalSource implements BuiltInSource {
  readonly #options: LocalSourceOptions;
  #custom: CustomTools;
  /** Keyed by the whole spec, so that unchanged tools are reused. */
  #toolsBySpec = new Map<string, Result<BuiltInTool, string>>();
  readonly #modules = new Map<string, OpenModule>();
  readonly #listeners = new Listeners();
  readonly #drains = new Listeners();
  readonly #ending = new Set<Promise<void>>();

  constructor(custom: CustomTools, options: LocalSourceOptions) {
    this.#custom = custom;
    this.#options = options;
    this.#openModules();
  }

  /** Replaces the tools and modules; calls of removed ones run to their end. */
  adopt(custom: CustomTools): void {
    if (custom === this.#custom) return;
    this.#custom = custom;
    this.#openModules();
    this.#changed();
  }

  async read(signal: AbortSignal): Promise<Result<BuiltInTools, Cause>> {
    const { tools, modules } = this.#custom;
    const found: FoundTool[] = [];
    const skipped: Skipped[] = [];
    for (const { name, made } of this.#makeTools(tools)) {
      if (made.ok) found.push({ tool: made.value, what: name });
      else skipped.push({ what: name, why: made.error });
    }
    const reading = modules.map((spec) => this.#readModule(keyOf(spec), signal));
    for (const [index, given] of (await Promise.all(reading)).entries()) {
      const path = modules[index]?.path ?? '';
      if (given.ok) {
        found.push(...given.value.tools.map((tool) => ({ tool, ...within(path, tool.definition.name) })));
        skipped.push(...given.value.skipped.map(({ what, why }) => ({ ...within(path, what), why })));
      } else skipped.push({ what: path, of: { module: path }, why: whyNot(given.error) });
    }
    return ok(withoutDuplicates(found, skipped));
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  get unreadBytes(): number {
    return [...this.#modules.values()].reduce((sum, { source }) => sum + (source.unreadBytes ?? 0), 0);
  }

  onDrain(listener: () => void): () => void {
    return this.#drains.add(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#drains.clear();
    for (const key of [...this.#modules.keys()]) this.#closeModule(key);
    await Promise.all(this.#ending);
  }

  /** A module that takes too long is skipped; listeners are notified once it has been read. */
  async #readModule(key: string, signal: AbortSignal): Promise<Result<BuiltInTools, Cause>> {
    const module = this.#modules.get(key);
    if (module === undefined) return ok({ tools: [], skipped: [] });
    const { late } = module;
    module.late = undefined;
    if (late !== undefined) return late;
    const read = module.source.read(signal);
    const given = await waitAtMost(read, READ_WAIT_MS);
    if (given !== undefined) return given;
    if (module.isAwaited !== true) void this.#awaitLate(key, module);
    return err({ code: 'MODULE_NOT_READY', waitedMs: READ_WAIT_MS });
  }

  async #awaitLate(key: string, module: OpenModule): Promise<void> {
    module.isAwaited = true;
    module.late = await module.source.read(new AbortController().signal);
    module.isAwaited = false;
    if (this.#modules.get(key) === module) this.#changed();
  }

  #makeTools(
    specs: readonly RestToolSpec[],
  ): readonly { readonly name: string; readonly made: Result<BuiltInTool, string> }[] {
    const before = this.#toolsBySpec;
    this.#toolsBySpec = new Map();
    return specs.map((spec) => {
      const key = keyOf(spec);
      const made = before.get(key) ?? this.#options.makeTool(spec);
      this.#toolsBySpec.set(key, made);
      return { name: spec.name, made };
    });
  }

  #openModules(): void {
    const wanted = new Map(this.#custom.modules.map((spec) => [keyOf(spec), spec]));
    for (const key of [...this.#modules.keys()]) if (!wanted.has(key)) this.#closeModule(key);
    for (const [key, spec] of wanted) {
      if (this.#modules.has(key)) continue;
      const source = this.#options.openModule(spec);
      const ends = [source.onChange(() => this.#changed()), source.onDrain?.(() => this.#drained())];
      this.#modules.set(key, { source, endListening: () => ends.forEach((end) => end?.()) });
    }
  }

  #closeModule(key: string): void {
    const module = this.#modules.get(key);
    if (module === undefined) return;
    this.#modules.delete(key);
    module.endListening();
    this.#drained();
    const ending = module.source.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #drained(): void {
    this.#drains.notify();
  }

  #changed(): void {
    this.#listeners.notify();
  }
}

function keyOf(spec: RestToolSpec | FunctionModuleSpec): string {
  return JSON.stringify(spec);
}

interface FoundTool extends Pick<Skipped, 'what' | 'of'> {
  readonly tool: BuiltInTool;
}

/** Follows the module's name, so it need not repeat that the module cannot be loaded. */
function whyNot(cause: Cause): string {
  return cause.code === 'MODULE_NOT_LOADED' ? cause.reason : formatCause(cause);
}

function within(module: string, tool: string): Pick<Skipped, 'what' | 'of'> {
  return { what: `${module}: ${tool}`, of: { module, tool } };
}

/** Keeps the first tool of each name. */
function withoutDuplicates(found: readonly FoundTool[], skipped: readonly Skipped[]): BuiltInTools {
  const names = new Set<string>();
  const tools: BuiltInTool[] = [];
  const twins: Skipped[] = [];
  for (const { tool, what, of } of found) {
    const { name } = tool.definition;
    if (names.has(name)) twins.push({ what, of, why: 'an earlier tool has the same name' });
    else tools.push(tool);
    names.add(name);
  }
  return { tools, skipped: [...skipped, ...twins] };
}
