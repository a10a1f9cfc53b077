import { findNearest } from '@assay-mcp/kit/nearest';
import type { Placed, PlacedRefusal, Refusal } from '../../../core/refusal.ts';
import type { UnknownRef } from '../../../core/refusals/toolset-refusals.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { computeRefId } from '../../../core/record-ids.ts';
import { formatNamespacedName, formatToolRef, type ToolRef } from '../../../core/tool-ref.ts';
import { getDigest } from '../../catalog/definition-facts.ts';
import type { Entry, Listing } from '../../catalog/listing.ts';

/** Looks up the tools of a list by namespaced name, by public name or by refId. */
export class ToolIndex {
  readonly entries: readonly Entry[];
  readonly #listing: Listing;
  readonly #byName = new Map<string, Entry[]>();
  readonly #disabled: readonly Entry[];
  readonly #disabledNames: ReadonlySet<string>;
  #byServer: ReadonlyMap<string, readonly Entry[]> | undefined;
  #byRefId: ReadonlyMap<string, Entry> | undefined;

  constructor(listing: Listing) {
    this.entries = listing.entries;
    this.#listing = listing;
    this.#disabled = listing.disabled;
    this.#disabledNames = new Set(listing.disabled.map(getEntryName));
    for (const entry of listing.entries) {
      const name = getEntryName(entry);
      const same = this.#byName.get(name);
      if (same === undefined) this.#byName.set(name, [entry]);
      else same.push(entry);
    }
  }

  /**
   * The tools with this namespaced or public name. More than one entry if the name is ambiguous: a server's name may end
   * within another server's tool name.
   */
  named(name: string): readonly Entry[] {
    const named = this.#byName.get(name);
    if (named !== undefined) return named;
    // No namespaced name is a public one: every namespaced name has a dot, and no public name has one.
    const entry = this.#listing.find(name);
    return entry === undefined ? [] : [entry];
  }

  /** All tools of a server. */
  ofServer(server: string): readonly Entry[] {
    this.#byServer ??= Map.groupBy(this.entries, (entry) => entry.server.spec.name);
    return this.#byServer.get(server) ?? [];
  }

  /** Namespaced names of the server's tools that the operator hides from clients. */
  disabledOf(server: string): readonly string[] {
    return this.#disabled.filter((entry) => entry.server.spec.name === server).map(getEntryName);
  }

  /** Whether a server offers the tool but the operator hides it from clients. */
  isDisabled(namespacedName: string): boolean {
    return this.#disabledNames.has(namespacedName);
  }

  /**
   * Errors: REF_UNKNOWN, REF_AMBIGUOUS, TOOL_DISABLED, or REF_DISAGREES if both ids are given and name different tools.
   */
  resolve(ref: ToolRef): Result<Entry, Refusal> {
    const { namespacedName, refId } = ref;
    const found = refId === undefined ? undefined : this.#withRefId(refId);
    if (namespacedName === undefined) return found === undefined ? err(this.#unknown(ref)) : ok(found);
    const named = this.named(namespacedName);
    if (refId !== undefined) {
      if (found !== undefined && named.includes(found)) return ok(found);
      return err(named.length === 0 ? this.#unknown(ref) : { code: 'REF_DISAGREES', namespacedName, refId });
    }
    const [only, other] = named;
    if (only === undefined) return err(this.#unknown(ref));
    if (other === undefined) return ok(only);
    return err({
      code: 'REF_AMBIGUOUS',
      ref: namespacedName,
      servers: named.map(({ server }) => server.spec.name),
    });
  }

  #withRefId(refId: string): Entry | undefined {
    this.#byRefId ??= new Map(this.entries.map((entry) => [getRefId(entry), entry]));
    return this.#byRefId.get(refId);
  }

  #unknown(ref: ToolRef): Refusal {
    const { namespacedName, refId } = ref;
    const disabled = this.#disabled.find((entry) =>
      namespacedName === undefined ? getRefId(entry) === refId : getEntryName(entry) === namespacedName,
    );
    if (disabled !== undefined) return { code: 'TOOL_DISABLED', tool: getEntryName(disabled) };
    const meant = ref.namespacedName && findNearest(ref.namespacedName, [...this.#byName.keys()]);
    return { code: 'REF_UNKNOWN', ref: formatToolRef(ref), ...(meant && { nearest: meant }) };
  }
}

/** Resolves several refs. The refusal names all unknown ones, so that a model can correct them at once. */
export function resolveAll<R extends ToolRef, T>(
  refs: readonly R[],
  resolve: (ref: R) => Result<T, Refusal>,
): Result<readonly T[], PlacedRefusal> {
  const found: T[] = [];
  const unknown: (UnknownRef & Placed)[] = [];
  for (const [at, ref] of refs.entries()) {
    const one = resolve(ref);
    if (one.ok) found.push(one.value);
    else if (one.error.code === 'REF_UNKNOWN') unknown.push({ ...one.error, inputPath: ['tools', at] });
    else return err({ ...one.error, inputPath: ['tools', at] });
  }
  const [first, ...others] = unknown;
  if (first === undefined) return ok(found);
  return err({ ...first, code: 'REF_UNKNOWN', ...(others.length > 0 && { others }) });
}

export function getEntryName({ server, name }: Entry): string {
  return formatNamespacedName(server.spec.name, name);
}

export function getRefId({ server, definition }: Entry): string {
  return computeRefId(server.spec.name, getDigest(definition));
}

const INDEXES = new WeakMap<Listing, ToolIndex>();

export function getToolIndex(listing: Listing): ToolIndex {
  const known = INDEXES.get(listing);
  if (known !== undefined) return known;
  const index = new ToolIndex(listing);
  INDEXES.set(listing, index);
  return index;
}
