import type { Deed } from '../../src/core/deed.ts';
import { err, ok } from '../../src/core/result.ts';
import type { Store, StorePart } from '../../src/gateway/ports/store.ts';
import type { EquippedMemory, StoredToolset, ToolsetStore } from '../../src/gateway/ports/toolsets.ts';

/** The toolsets of a store, in memory. */
export class MemoryToolsets implements ToolsetStore, Pick<Store, 'onChange'> {
  readonly kept: Map<string, StoredToolset> = new Map<string, StoredToolset>();
  /** How often a toolset was written. */
  writes = 0;
  /** All that were told of writes. */
  readonly deeds: Deed[] = [];
  /** How often one was equipped, or unequipped. */
  equippings = 0;
  /** Called before each write, as somebody else who is faster. */
  before: () => void = () => undefined;
  #revision = 0;
  #equipped: string | undefined;
  readonly #listeners = new Set<(parts: readonly StorePart[]) => void>();

  toolsets: ToolsetStore['toolsets'] = (known) =>
    Promise.resolve(
      ok({
        names: [...this.kept.keys()].sort(),
        changed: [...this.kept.values()].filter((one) => known.get(one.toolset.name) !== one.revision),
        equipped: this.#equipped,
        equippings: this.equippings,
      }),
    );

  saveToolset: ToolsetStore['saveToolset'] = (toolset, former, deed) => {
    this.before();
    const there = this.kept.get(former?.name ?? toolset.name);
    if (former === undefined && there !== undefined)
      return Promise.resolve(err({ code: 'TOOLSET_TAKEN', name: toolset.name }));
    if (former !== undefined && there?.revision !== former.revision) return Promise.resolve(ok(undefined));
    if (former !== undefined) this.kept.delete(former.name);
    const saved = { toolset, revision: (this.#revision += 1) };
    this.kept.set(toolset.name, saved);
    this.writes += 1;
    if (deed !== undefined) this.deeds.push(deed);
    return Promise.resolve(ok(saved));
  };

  removeToolset: ToolsetStore['removeToolset'] = (name, deed) => {
    if (deed !== undefined && this.kept.has(name)) this.deeds.push(deed);
    if (this.#equipped === name) void this.equip(undefined);
    return Promise.resolve(ok(this.kept.delete(name)));
  };

  equip: ToolsetStore['equip'] = (name, deed) => {
    const isThere = name === undefined || this.kept.has(name);
    if (isThere) {
      this.#equipped = name;
      if (deed !== undefined) this.deeds.push(deed);
      this.equippings += 1;
    }
    return Promise.resolve(ok(isThere));
  };

  onChange: Store['onChange'] = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** What a store tells when another process wrote. */
  announce(): void {
    for (const listener of this.#listeners) listener(['toolsets']);
  }
}

/** A memory of what is equipped that is lost with the process. */
export function equippedMemory(
  recalled?: EquippedMemory['recalled'],
): EquippedMemory & { readonly remembered: unknown[] } {
  const remembered: unknown[] = [];
  return {
    recalled,
    remembered,
    remember: (equipped) => remembered.push(equipped),
    flush: () => Promise.resolve(),
  };
}
