import type { Definition } from '../ports/link.ts';
import type { GrowthBounds } from '../ports/records.ts';
import { FIXED_LIMITS } from '../../core/fixed-limits.ts';
import type { ListLimits } from './list-budget.ts';
import { Listeners } from '../../core/listeners.ts';

/** How much is stored of the definitions of one server that no operator has reviewed. */
export function computeDefinitionBounds(limits?: ListLimits): GrowthBounds {
  const { listEntries: entries, listBytes: bytes } = { ...FIXED_LIMITS, ...limits };
  return { entries: 2 * entries, bytes, entriesPerMinute: entries, bytesPerMinute: Math.ceil(bytes / 2) };
}

/** Why a tool is withheld whose definition could not be stored, as the end of a sentence. */
export const UNSTORED_REASON =
  'its server has sent more new or changed definitions than Assay stores; retried every 10 s';

const WITHHELD = new WeakMap<Definition, Definition>();
const UNSTORED = new WeakSet<Definition>();

/** The definition as one that no client gets. */
export function withholdUnstored(definition: Definition): Definition {
  const known = WITHHELD.get(definition);
  if (known !== undefined) return known;
  const withheld = { kind: 'withheld', reason: UNSTORED_REASON } as const;
  const unstored = { ...definition, fitness: { legacy: withheld, modern: withheld } };
  WITHHELD.set(definition, unstored);
  UNSTORED.add(unstored);
  return unstored;
}

/** Whether a definition is withheld because it could not be stored. */
export function isUnstored(definition: Definition): boolean {
  return UNSTORED.has(definition);
}

/** The servers at a bound of what is stored. Their definitions that are not stored are withheld. */
export class UnstoredDefinitions {
  /** Whether a definition is stored, by server id. */
  readonly #stored = new Map<string, (definition: Definition) => boolean>();
  readonly #listeners = new Listeners();

  /** Calls back after a server has reached a bound, or more of its definitions are stored. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  isAtBound(serverId: string): boolean {
    return this.#stored.has(serverId);
  }

  isUnstored(serverId: string, definition: Definition): boolean {
    return this.#stored.get(serverId)?.(definition) === false;
  }

  /** `isStored`: undefined if all definitions of the server could be stored. */
  set(serverId: string, isStored: ((definition: Definition) => boolean) | undefined): void {
    if (isStored === undefined && !this.#stored.has(serverId)) return;
    if (isStored === undefined) this.#stored.delete(serverId);
    else this.#stored.set(serverId, isStored);
    this.#listeners.notify();
  }
}
