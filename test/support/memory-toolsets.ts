import type { AuditEvent } from '../../src/core/audit-event.ts';
import type { Change, CommitStore, ExpectedRevision } from '../../src/gateway/ports/commit.ts';
import type { Toolset } from '../../src/core/toolset.ts';
import { err, ok } from '../../src/core/result.ts';
import type { Store, StorePart } from '../../src/gateway/ports/store.ts';
import type { EquippedMemory, StoredToolset, ToolsetStore } from '../../src/gateway/ports/toolsets.ts';

/** The toolsets of a store, in memory. */
export class MemoryToolsets implements ToolsetStore, CommitStore, Pick<Store, 'onChange'> {
  readonly kept: Map<string, StoredToolset> = new Map<string, StoredToolset>();
  /** How often a toolset was written. */
  writes = 0;
  /** All that were told of writes. */
  readonly deeds: AuditEvent[] = [];
  /** How often one was equipped, or unequipped. */
  equippings = 0;
  /** Called before each write, as somebody else who is faster. */
  before: () => void = () => undefined;
  /** Whether the next read finds the store. */
  mayRead: () => boolean = () => true;
  #revision = 0;
  #equipped: string | undefined;
  readonly #listeners = new Set<(parts: readonly StorePart[]) => void>();

  toolsets: ToolsetStore['toolsets'] = (known) =>
    Promise.resolve(
      this.mayRead()
        ? ok({
            names: [...this.kept.keys()].sort(),
            changed: [...this.kept.values()].filter((one) => known.get(one.toolset.name) !== one.revision),
            equipped: this.#equipped,
            equippings: this.equippings,
          })
        : err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' }),
    );

  commit: CommitStore['commit'] = (commit) => {
    this.before();
    if (!commit.expectedRevisions.every((one) => this.#isCurrent(one))) return Promise.resolve(ok(undefined));
    const toolsets = commit.changes.flatMap((change) => this.#make(change) ?? []);
    this.deeds.push(...commit.audit);
    return Promise.resolve(ok({ words: [], toolsets }));
  };

  /** As if another process kept it. */
  keep(toolset: Toolset): StoredToolset {
    const stored = { toolset, revision: (this.#revision += 1) };
    this.kept.set(toolset.name, stored);
    return stored;
  }

  #isCurrent(expected: ExpectedRevision): boolean {
    if (expected.kind === 'toolset') return this.kept.get(expected.name)?.revision === expected.revision;
    return expected.kind !== 'equipped' || expected.equippings === this.equippings;
  }

  #make(change: Change): StoredToolset | undefined {
    switch (change.kind) {
      case 'toolset':
        this.writes += 1;
        if (change.replaces !== undefined) this.kept.delete(change.replaces);
        if (change.replaces !== undefined && this.#equipped === change.replaces)
          this.#equipped = change.toolset.name;
        return this.keep(change.toolset);
      case 'toolset removal':
        this.kept.delete(change.name);
        if (this.#equipped === change.name) this.#equip(undefined);
        return undefined;
      case 'equipped':
        this.#equip(change.name);
        return undefined;
      default:
        throw new Error(`No ${change.kind} is kept here.`);
    }
  }

  #equip(name: string | undefined): void {
    this.#equipped = name;
    this.equippings += 1;
  }

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
