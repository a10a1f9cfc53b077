import { ok, type Result } from '../../core/result.ts';
import type { FunctionModuleSpec } from '../../core/sources/function-module.ts';
import type { RestToolSpec } from '../../core/sources/rest-tool.ts';
import type { MadeTransport } from '../../core/server-spec.ts';
import type { Skipped } from '../../gateway/ports.ts';
import type { MadeSource, MadeTool, MadeTools } from './made-tool.ts';

export type LocalTransport = Extract<MadeTransport, { readonly kind: 'local' }>;

export interface LocalSourceOptions {
  /** The error is a phrase. */
  readonly makeTool: (spec: RestToolSpec) => Result<MadeTool, string>;
  readonly openModule: (spec: FunctionModuleSpec) => MadeSource;
}

interface OpenModule {
  readonly source: MadeSource;
  readonly endListening: () => void;
}

/** What operators make themselves: requests and modules of functions, each beside the others. */
export class LocalSource implements MadeSource {
  readonly #options: LocalSourceOptions;
  #transport: LocalTransport;
  /** By all that makes them what they are, so that what did not change goes on as it is. */
  #made = new Map<string, Result<MadeTool, string>>();
  readonly #modules = new Map<string, OpenModule>();
  readonly #listeners = new Set<() => void>();
  readonly #ending = new Set<Promise<void>>();

  constructor(transport: LocalTransport, options: LocalSourceOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#openModules();
  }

  /** Other tools and modules from now on; calls of those that are gone come to their end. */
  adopt(transport: LocalTransport): void {
    if (transport === this.#transport) return;
    this.#transport = transport;
    this.#openModules();
    this.#changed();
  }

  async read(signal: AbortSignal): Promise<Result<MadeTools, string>> {
    const { tools, modules } = this.#transport;
    const found: MadeTool[] = [];
    const skipped: Skipped[] = [];
    for (const { name, made } of this.#makeTools(tools)) {
      if (made.ok) found.push(made.value);
      else skipped.push({ what: name, why: made.error });
    }
    const open = modules.flatMap((spec) => {
      const module = this.#modules.get(keyOf(spec));
      return module === undefined ? [] : [{ what: spec.path, read: module.source.read(signal) }];
    });
    for (const { what, read } of open) {
      const given = await read;
      if (given.ok) {
        found.push(...given.value.tools);
        skipped.push(...given.value.skipped);
      } else skipped.push({ what, why: given.error });
    }
    return ok(withoutTwins(found, skipped));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    for (const key of [...this.#modules.keys()]) this.#closeModule(key);
    await Promise.all(this.#ending);
  }

  #makeTools(
    specs: readonly RestToolSpec[],
  ): readonly { readonly name: string; readonly made: Result<MadeTool, string> }[] {
    const before = this.#made;
    this.#made = new Map();
    return specs.map((spec) => {
      const key = keyOf(spec);
      const made = before.get(key) ?? this.#options.makeTool(spec);
      this.#made.set(key, made);
      return { name: spec.name, made };
    });
  }

  #openModules(): void {
    const wanted = new Map(this.#transport.modules.map((spec) => [keyOf(spec), spec]));
    for (const key of [...this.#modules.keys()]) if (!wanted.has(key)) this.#closeModule(key);
    for (const [key, spec] of wanted) {
      if (this.#modules.has(key)) continue;
      const source = this.#options.openModule(spec);
      this.#modules.set(key, { source, endListening: source.onChange(() => this.#changed()) });
    }
  }

  #closeModule(key: string): void {
    const module = this.#modules.get(key);
    if (module === undefined) return;
    this.#modules.delete(key);
    module.endListening();
    const ending = module.source.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

function keyOf(spec: RestToolSpec | FunctionModuleSpec): string {
  return JSON.stringify(spec);
}

/** The first of a name has it. */
function withoutTwins(found: readonly MadeTool[], skipped: readonly Skipped[]): MadeTools {
  const names = new Set<string>();
  const twins: Skipped[] = [];
  const tools = found.filter(({ definition: { name } }) => {
    if (names.has(name)) twins.push({ what: name, why: 'another tool of this name stands before it' });
    const isFirst = !names.has(name);
    names.add(name);
    return isFirst;
  });
  return { tools, skipped: [...skipped, ...twins] };
}
