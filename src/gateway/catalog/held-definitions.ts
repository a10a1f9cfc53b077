import type { Definition } from '../ports/link.ts';
import type { GrowthBounds } from '../ports/records.ts';
import type { ListLimits } from './list-budget.ts';

/** How much is stored of the definitions of one server that no operator has reviewed. */
export function definitionBounds(limits: ListLimits): GrowthBounds {
  const { 'limits.listEntries': entries, 'limits.listBytes': bytes } = limits;
  return { entries: 2 * entries, bytes, entriesPerMinute: entries, bytesPerMinute: Math.ceil(bytes / 2) };
}

/** Why a tool is withheld whose definition could not be stored, as the end of a sentence. */
export const HELD_REASON =
  'its server has sent more new or changed definitions than Assay stores; retried every 10 s';

const HELD = new WeakMap<Definition, Definition>();
const IS_HELD = new WeakSet<Definition>();

/** The definition as one that no client gets. */
export function heldBack(definition: Definition): Definition {
  const known = HELD.get(definition);
  if (known !== undefined) return known;
  const withheld = { kind: 'withheld', reason: HELD_REASON } as const;
  const held = { ...definition, fitness: { legacy: withheld, modern: withheld } };
  HELD.set(definition, held);
  IS_HELD.add(held);
  return held;
}

/** Whether a definition is withheld because it could not be stored. */
export function isHeldBack(definition: Definition): boolean {
  return IS_HELD.has(definition);
}

/** The servers at a bound of what is stored. Their definitions that are not stored are withheld. */
export class HeldDefinitions {
  /** Whether a definition is stored, by server id. */
  readonly #stored = new Map<string, (definition: Definition) => boolean>();
  readonly #listeners = new Set<() => void>();

  /** Calls back after a server has reached a bound, or more of its definitions are stored. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  isAtBound(serverId: string): boolean {
    return this.#stored.has(serverId);
  }

  isHeld(serverId: string, definition: Definition): boolean {
    return this.#stored.get(serverId)?.(definition) === false;
  }

  /** `isStored`: undefined if all definitions of the server could be stored. */
  set(serverId: string, isStored: ((definition: Definition) => boolean) | undefined): void {
    if (isStored === undefined && !this.#stored.has(serverId)) return;
    if (isStored === undefined) this.#stored.delete(serverId);
    else this.#stored.set(serverId, isStored);
    for (const listener of this.#listeners) listener();
  }
}
