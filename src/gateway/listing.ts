import type { Refusal } from '../core/refusal.ts';
import { publicNames } from '../core/names.ts';
import { printable } from '../core/printable.ts';
import { err, ok, type Result } from '../core/result.ts';
import { changedDefinition } from '../protocol/definition.ts';
import type { Era } from '../protocol/eras.ts';
import { modernMembers } from '../protocol/translate.ts';
import { LISTS } from './inventory.ts';
import type { Definition, ListKind } from './ports.ts';
import type { Server } from './server.ts';

/** One thing that a client can ask for, and where it is. */
export interface Entry {
  /** The public name, or the URI (template), which never changes. */
  readonly key: string;
  readonly server: Server;
  /** What its server calls it. */
  readonly name: string;
  readonly definition: Definition;
}

/** Most entries on one page. Many clients ignore cursors, so a page is large. */
export const PAGE_SIZE = 1_000;

export interface ListingOptions {
  readonly kind: ListKind;
  readonly servers: readonly Server[];
  /** Whether tools and prompts get public names; otherwise they keep their server's own. */
  readonly isAggregated: boolean;
}

/** One list as clients of one endpoint see it. Never changes once it is built; a change makes a new one. */
export class Listing {
  readonly entries: readonly Entry[];
  /** What is shown otherwise than its server wrote it, or not at all, with the reason; for people. */
  readonly reports: readonly string[];
  readonly #kind: ListKind;
  readonly #byKey = new Map<string, Entry>();
  readonly #contested: ReadonlyMap<string, readonly string[]>;
  readonly #shown: Partial<Record<Era, readonly Entry[]>> = {};
  readonly #pages = new Map<string, Buffer>();

  constructor(options: ListingOptions) {
    this.#kind = options.kind;
    const named = LISTS[options.kind].key === 'name';
    const sources = options.servers.flatMap((server) =>
      server.inventory[options.kind].flatMap((definition) =>
        definition.key === undefined ? [] : [{ server, definition, name: definition.key }],
      ),
    );
    const given =
      named && options.isAggregated
        ? publicNames(
            sources.map(({ server, name }) => ({
              server: server.spec.name,
              name,
              isPrefixed: server.spec.prefix,
            })),
          )
        : {
            names: sources.map(({ name }) => name),
            contested: new Map<string, readonly string[]>(),
            reports: [],
          };
    const reports = [...given.reports];
    for (const [index, source] of sources.entries()) {
      const key = given.names[index];
      if (key === undefined) continue;
      const first = this.#byKey.get(key);
      if (first === undefined) this.#byKey.set(key, { ...source, key });
      else
        reports.push(
          `${source.server.spec.name}: ${key} is hidden, ${first.server.spec.name} has it already`,
        );
    }
    this.entries = [...this.#byKey.values()];
    this.#contested = given.contested;
    this.reports = [
      ...reports,
      ...this.entries.flatMap(fitnessReport),
      ...options.servers.flatMap((s) => namelessReport(s, options.kind)),
    ].map(forPeople);
  }

  find(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  /** The names that took the place of one that several tools wanted. */
  candidates(key: string): readonly string[] | undefined {
    return this.#contested.get(key);
  }

  /** Whether clients would see no difference to another listing. */
  isSame(other: Listing): boolean {
    return (
      this.entries.length === other.entries.length &&
      this.entries.every((entry, index) => {
        const twin = other.entries[index];
        return twin?.key === entry.key && twin.definition === entry.definition;
      })
    );
  }

  /** JSON text of the list's result, from after the entry that the cursor names. Made once, then only written. */
  page(era: Era, cursor: string | undefined): Result<Buffer, Refusal> {
    const shown = (this.#shown[era] ??= this.entries.filter(
      (e) => e.definition.fitness[era].kind !== 'withheld',
    ));
    const start = cursor === undefined ? 0 : this.#startAfter(shown, cursor);
    if (start === undefined) return err({ code: 'CURSOR_INVALID' });
    const key = `${era} ${start}`;
    const made = this.#pages.get(key) ?? this.#makePage(shown, start, era);
    // A cursor that a client made up gets its page, but none that is kept.
    if (start % PAGE_SIZE === 0) this.#pages.set(key, made);
    return ok(made);
  }

  #startAfter(shown: readonly Entry[], cursor: string): number | undefined {
    const last = this.#byKey.get(Buffer.from(cursor, 'base64url').toString());
    const index = last === undefined ? -1 : shown.indexOf(last);
    return index < 0 ? undefined : index + 1;
  }

  #makePage(shown: readonly Entry[], start: number, era: Era): Buffer {
    const entries = shown.slice(start, start + PAGE_SIZE);
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
      for (const [key, value] of modernMembers(method)) pieces.push(Buffer.from(`,"${key}":${value}`));
    pieces.push(Buffer.from('}'));
    return Buffer.concat(pieces);
  }
}

/** Longest report; a server chooses how long its names are. */
const LONGEST_REPORT = 1_000;

function forPeople(report: string): string {
  return printable(report.length > LONGEST_REPORT ? `${report.slice(0, LONGEST_REPORT)}…` : report);
}

const COMMA: Buffer = Buffer.from(',');

function shownDefinition(entry: Entry, era: Era): Buffer {
  const fitness = entry.definition.fitness[era];
  return changedDefinition(entry.definition.bytes, {
    name: entry.key === entry.name ? undefined : entry.key,
    without: fitness.kind === 'without' ? fitness.paths : [],
  });
}

function fitnessReport(entry: Entry): readonly string[] {
  const { legacy, modern } = entry.definition.fitness;
  const worse = legacy.kind === 'whole' ? modern : legacy;
  const whose = `${entry.server.spec.name}: ${entry.name}`;
  if (worse.kind === 'whole') return [];
  const era = legacy.kind === modern.kind ? '' : ` from ${worse === legacy ? 'legacy' : 'modern'} clients`;
  if (worse.kind === 'withheld') return [`${whose} is withheld${era}: ${worse.reason}`];
  return [
    `${whose} is listed without ${worse.paths.map((path) => path.join('.')).join(', ')}${era}: ${worse.reasons.join('; ')}`,
  ];
}

function namelessReport(server: Server, kind: ListKind): readonly string[] {
  const nameless = server.inventory[kind].filter((definition) => definition.key === undefined).length;
  return nameless === 0
    ? []
    : [`${server.spec.name}: ${nameless} of its ${kind} have no ${LISTS[kind].key} and are withheld`];
}
