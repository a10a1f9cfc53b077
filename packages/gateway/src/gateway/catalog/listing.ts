import type { Refusal } from '../../core/refusal.ts';
import { type JsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { ListReport } from '../../core/list-report.ts';
import { allowsTool } from '../../core/tool-filter.ts';
import { NAME_BUDGETS, shortenNames } from '../../core/name-budget.ts';
import { assignPublicNames } from '../../core/names.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { changeDefinition } from '@assay-mcp/protocol/definition';
import type { Era } from '@assay-mcp/protocol/eras';
import { getModernMembers } from '@assay-mcp/protocol/translate';
import { getDeclared } from './definition-facts.ts';
import { LISTS } from './inventory.ts';
import { toPrintableReport, type HiddenEntry, buildHiddenReports, buildListReports } from './list-reports.ts';
import type { OperatorSettings } from './tool-claims.ts';
import type { Definition, ListKind } from '../ports/link.ts';
import type { Server } from './server.ts';

/** A listed item, and the server that has it. */
export interface Entry {
  /** The public name, or the URI (template), which never changes. */
  readonly key: string;
  readonly server: Server;
  /** The server's own name for it. */
  readonly name: string;
  readonly definition: Definition;
  /** An operator's note on it, for models to read. */
  readonly notes?: string | undefined;
  /** What operators say about a tool. */
  readonly settings?: OperatorSettings | undefined;
}

/** The part of an entry that lists show. Also used for Assay's own tools, which have no server. */
export type ListedEntry = Omit<Entry, 'server'>;

/** Maximum number of entries per page. Large, because many clients ignore cursors. */
export const PAGE_SIZE = 1_000;
/** A page ends with the entry that brings it to this size, because it is built in one step. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** The content of a list. */
export interface ListingContent {
  readonly kind: ListKind;
  readonly entries: readonly Entry[];
  /** Tools that an operator disabled. */
  readonly disabled?: readonly Entry[];
  /** Assay's own tools, listed before the others. */
  readonly own?: readonly ListedEntry[];
  /** Names that several tools claimed, and those they got instead. */
  readonly contested?: ReadonlyMap<string, readonly string[]>;
  /** Former names of entries, and those they have now. */
  readonly former?: ReadonlyMap<string, string>;
  readonly reports?: readonly ListReport[];
}

export interface PageOptions {
  readonly cursor?: string | undefined;
  /** For clients that cannot use tools with longer names. Undefined: names are not shortened. */
  readonly maxNameLength?: number | undefined;
}

/** One list as clients of one endpoint see it. Immutable; a change builds a new one. */
export class Listing {
  readonly entries: readonly Entry[];
  /** Tools that an operator disabled. */
  readonly disabled: readonly Entry[];
  readonly reports: readonly ListReport[];
  /** Assay's own tools, listed before the others. */
  readonly own: readonly ListedEntry[];
  readonly #kind: ListKind;
  readonly #byKey: ReadonlyMap<string, Entry>;
  readonly #contested: ReadonlyMap<string, readonly string[]>;
  readonly #former: ReadonlyMap<string, string>;
  readonly #shown: Partial<Record<Era, readonly ListedEntry[]>> = {};
  readonly #compared = new WeakMap<Listing, boolean>();
  readonly #pages = new Map<string, Buffer>();
  readonly #shortened = new Map<number, Listing>();
  /** Starts of the pages reachable from the first page. */
  readonly #starts = new Set<string>();

  constructor(content: ListingContent) {
    const { kind, entries, disabled = [], own = [], reports = [] } = content;
    const { contested = new Map(), former = new Map() } = content;
    this.#kind = kind;
    this.entries = entries;
    this.disabled = disabled;
    this.own = own;
    this.#byKey = new Map(entries.map((entry) => [entry.key, entry]));
    this.#contested = contested;
    this.#former = former;
    this.reports = reports;
  }

  /** Clients may also use the former name of a tool. */
  find(key: string): Entry | undefined {
    return this.#byKey.get(key) ?? this.#byKey.get(this.#former.get(key) ?? key);
  }

  /** The names that replace one that several tools claimed. */
  candidates(key: string): readonly string[] | undefined {
    return this.#contested.get(key);
  }

  /** Whether an operator disabled this tool. */
  isDisabled(key: string): boolean {
    return this.disabled.some((entry) => entry.key === key);
  }

  /** The same list with longer tool names shortened. Returns itself if there are none. */
  #within(maxNameLength: number): Listing {
    const known = this.#shortened.get(maxNameLength);
    if (known !== undefined) return known;
    const short = shortenNames(
      this.entries.map(({ key }) => key),
      maxNameLength,
    );
    const renamed = (entry: Entry): Entry => ({ ...entry, key: short.get(entry.key) ?? entry.key });
    const { disabled, own, reports } = this;
    const contested = this.#contested;
    const entries = this.entries.map(renamed);
    const listing =
      short.size === 0 ? this : new Listing({ kind: this.#kind, entries, disabled, own, contested, reports });
    this.#shortened.set(maxNameLength, listing);
    return listing;
  }

  /** The tool that some clients see under this shortened name. */
  findShortened(key: string): Entry | undefined {
    return NAME_BUDGETS.map((maxLength) => this.#within(maxLength).find(key)).find(
      (entry) => entry !== undefined,
    );
  }

  /** The same list without some tools, as if their servers did not have them. Returns itself if it has none of them. */
  without(isLeftOut: (entry: Entry | ListedEntry) => boolean): Listing {
    const keep = (entry: Entry | ListedEntry): boolean => !isLeftOut(entry);
    const [entries, disabled, own] = [
      this.entries.filter(keep),
      this.disabled.filter(keep),
      this.own.filter(keep),
    ];
    const kept = entries.length + disabled.length + own.length;
    if (kept === this.entries.length + this.disabled.length + this.own.length) return this;
    const keys = new Set([...entries, ...disabled].map(({ key }) => key));
    const contested = new Map(
      [...this.#contested]
        .map(([key, names]) => [key, names.filter((name) => keys.has(name))] as const)
        .filter(([, names]) => names.length > 1),
    );
    return new Listing({ kind: this.#kind, entries, disabled, own, contested, former: this.#former });
  }

  /** Whether clients would see no difference from another listing. */
  isSame(other: Listing): boolean {
    if (other === this) return true;
    // Each caller's view asks.
    const known = this.#compared.get(other) ?? this.#isEqual(other);
    this.#compared.set(other, known);
    return known;
  }

  #isEqual(other: Listing): boolean {
    const [these, those] = [this.#all, other.#all];
    return (
      these.length === those.length &&
      these.every(({ key, definition, notes, settings }, index) => {
        const twin = those[index];
        return (
          twin?.key === key &&
          twin.definition === definition &&
          twin.notes === notes &&
          twin.settings?.members === settings?.members
        );
      })
    );
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  get #all(): readonly ListedEntry[] {
    return this.own.length === 0 ? this.entries : [...this.own, ...this.entries];
  }

  /** The list's result as JSON text, starting after the entry that the cursor names. Cached. */
  page(era: Era, { cursor, maxNameLength }: PageOptions = {}): Result<Buffer, Refusal> {
    if (maxNameLength !== undefined && this.#kind === 'tools')
      return this.#within(maxNameLength).page(era, { cursor });
    const shown = (this.#shown[era] ??= this.#all.filter(
      (e) => e.definition.fitness[era].kind !== 'withheld',
    ));
    const start = cursor === undefined ? 0 : this.#startAfter(shown, cursor);
    if (start === undefined) return err({ code: 'CURSOR_INVALID' });
    const key = `${era} ${start}`;
    const made = this.#pages.get(key) ?? this.#makePage(shown, start, era);
    // A made-up cursor gets its page, but that page is not cached.
    if (start === 0 || this.#starts.has(key)) {
      this.#pages.set(key, made);
      this.#starts.add(`${era} ${pageEnd(shown, start)}`);
    }
    return ok(made);
  }

  #startAfter(shown: readonly ListedEntry[], cursor: string): number | undefined {
    const last = this.#byKey.get(Buffer.from(cursor, 'base64url').toString());
    const index = last === undefined ? -1 : shown.indexOf(last);
    return index < 0 ? undefined : index + 1;
  }

  #makePage(shown: readonly ListedEntry[], start: number, era: Era): Buffer {
    const entries = shown.slice(start, pageEnd(shown, start));
    const last = entries.at(-1);
    const hasMore = last !== undefined && start + entries.length < shown.length;
    const method = LISTS[this.#kind].method;
    const pieces: Buffer[] = [Buffer.from(`{"${this.#kind}":[`)];
    for (const [index, entry] of entries.entries()) {
      if (index > 0) pieces.push(COMMA);
      pieces.push(shownDefinition(entry, era));
    }
    pieces.push(Buffer.from(']'));
    if (hasMore) pieces.push(Buffer.from(`,"nextCursor":"${Buffer.from(last.key).toString('base64url')}"`));
    if (era === 'modern')
      for (const [key, value] of getModernMembers(method)) pieces.push(Buffer.from(`,"${key}":${value}`));
    pieces.push(Buffer.from('}'));
    return Buffer.concat(pieces);
  }
}

function pageEnd(shown: readonly ListedEntry[], start: number): number {
  const max = Math.min(start + PAGE_SIZE, shown.length);
  let bytes = 0;
  for (let at = start; at < max; at += 1) {
    bytes += shown[at]?.definition.bytes.length ?? 0;
    if (bytes >= PAGE_BYTES) return at + 1;
  }
  return max;
}

export interface ListingSource {
  readonly kind: ListKind;
  readonly servers: readonly Server[];
  /** Whether tools and prompts get public names. Otherwise they keep their own. */
  readonly isAggregated: boolean;
}

/** One list of all these servers. */
export function buildListing({ kind, servers, isAggregated }: ListingSource): Listing {
  const named = LISTS[kind].key === 'name';
  const sources = servers.flatMap((server) =>
    server.inventory[kind].flatMap((definition) =>
      definition.key === undefined || isFilteredOut(kind, server, definition.key)
        ? []
        : [
            {
              server,
              definition:
                kind === 'tools' ? server.claims.withheldIfUnstored(server.spec, definition) : definition,
              name: definition.key,
              settings: settingsOf(kind, server, definition),
            },
          ],
    ),
  );
  const given =
    named && isAggregated
      ? assignPublicNames(
          sources.map(({ server, name, settings }) => ({
            server: server.spec.name,
            name: settings?.name ?? name,
            isPrefixed: server.spec.prefix,
          })),
        )
      : {
          names: sources.map(({ name, settings }) => settings?.name ?? name),
          contested: NO_NAMES,
          former: NO_NAMES,
          reports: [],
        };
  const hidden: HiddenEntry[] = [];
  const byKey = new Map<string, Entry>();
  for (const [index, source] of sources.entries()) {
    const key = given.names[index];
    if (key === undefined) continue;
    const first = byKey.get(key);
    if (first === undefined) byKey.set(key, { ...source, key });
    else hidden.push({ key, server: source.server.spec.name, shown: first.server.spec.name });
  }
  const known = [...byKey.values()];
  const entries = known.filter(({ settings }) => settings?.isDisabled !== true);
  return new Listing({
    kind,
    entries,
    disabled: known.filter(({ settings }) => settings?.isDisabled === true),
    contested: given.contested,
    former: given.former,
    reports: [
      ...given.reports,
      ...buildHiddenReports(hidden, kind),
      ...buildListReports(entries, { servers, kind }),
    ].map(toPrintableReport),
  });
}

function isFilteredOut(kind: ListKind, { spec }: Server, name: string): boolean {
  return kind === 'tools' && spec.toolFilter !== undefined && !allowsTool(spec.toolFilter, name);
}

function settingsOf(
  kind: ListKind,
  { spec, claims }: Server,
  definition: Definition,
): OperatorSettings | undefined {
  return kind === 'tools' ? claims.settingsOf(spec, definition) : undefined;
}

/** The description that clients get, without notes: the operator's, else the server's. */
export function getDescription({ definition, settings }: ListedEntry): string | undefined {
  const own = settings?.members.find(({ path }) => path[0] === 'description')?.value;
  return typeof own === 'string' ? own : getDeclared(definition).description;
}

const NO_NAMES: ReadonlyMap<string, never> = new Map<string, never>();

const COMMA: Buffer = Buffer.from(',');

/** The definition as modern clients see it, as a JSON object. */
export function toShownJson(entry: ListedEntry): JsonObject {
  return parseObject(shownDefinition(entry, 'modern').toString());
}

function shownDefinition(entry: ListedEntry, era: Era): Buffer {
  const fitness = entry.definition.fitness[era];
  return changeDefinition(entry.definition.bytes, {
    name: entry.key === entry.name ? undefined : entry.key,
    notes: entry.notes,
    without: fitness.kind === 'without' ? fitness.paths : [],
    members: entry.settings?.members,
  });
}
