import { isUtf8 } from 'node:buffer';
import { dirname } from 'node:path';
import { sha256 } from '@assay-mcp/kit/digest';
import { VERSION } from '@assay-mcp/kit/version';
import { computeIdentity } from '../../core/server-identity.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Definition, Inventory, ListKind, Memory, Snapshot } from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { ensureFolder, readTextNow, writeAtomically } from '@assay-mcp/kit/platform/files';
import { pause } from '@assay-mcp/kit/platform/pause';
import { describeDanglingReference } from '@assay-mcp/protocol/dangling-reference';
import { findHeaderParameters } from '@assay-mcp/protocol/header-parameters';

/** A server memory kept in a file, so the next start can answer before any server is ready. */
export interface CatalogFile extends Memory {
  /** Writes pending changes. */
  flush(): Promise<void>;
}

export interface CatalogFileOptions {
  readonly path: string;
  readonly log: Log;
}

/** Changes within this many ms are written together. */
const WRITE_AFTER_MS = 250;
/**
 * Processes that write at the same time finish within this many ms; a lost write is then repeated, up to this many
 * attempts.
 */
const LOST_AFTER_MS = 100;
const MAX_ATTEMPTS = 5;
/** Maximum number of servers in the file; the least recently seen are dropped. */
const MAX_SERVERS = 200;
/** Maximum size of one server's saved lists in bytes: the file is written and read in one go. */
const MAX_BYTES = 2 * 1024 * 1024;
/** The same for all servers together. */
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;
/** Increase when the format below changes; files of another format are ignored. */
const FORMAT = 6;

/**
 * Opens the file of servers as last seen. Several processes write to it, each for its own servers. A file that is
 * damaged or from another version counts as empty.
 */
export function openCatalogFile(options: CatalogFileOptions): CatalogFile {
  return new WrittenMemory(options, readEntries(options.path));
}

/** One server in the file, as JSON. */
type FileEntry = KnownEntry | AbsentEntry;

interface KnownEntry {
  readonly name: string;
  readonly identity: string;
  readonly seenMs: number;
  readonly snapshot: Omit<Snapshot, 'inventory'>;
  readonly lists: Readonly<Record<ListKind, readonly FileDefinition[]>>;
}

/** A server that was too late for the first lists, and has never been ready. */
interface AbsentEntry extends Pick<KnownEntry, 'name' | 'identity' | 'seenMs'> {
  readonly isAbsent: true;
}

/** Key, JSON text, the part that clients accept (if not all of it), and Assay's facts about a built-in tool. */
type FileDefinition = readonly [
  key: string | null,
  text: string,
  fitness?: Definition['fitness'] | null,
  facts?: Definition['facts'],
];

type Entries = Map<string, FileEntry>;

interface ServerSnapshot {
  readonly name: string;
  readonly identity: string;
  /** Undefined if it is absent. */
  readonly snapshot: Snapshot | undefined;
}

class WrittenMemory implements CatalogFile {
  readonly #options: CatalogFileOptions;
  readonly #known: Entries;
  readonly #learnt = new Map<string, ServerSnapshot>();
  readonly #snapshots = new Map<string, Snapshot>();
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: CatalogFileOptions, known: Entries) {
    this.#options = options;
    this.#known = known;
  }

  recall(spec: ServerSpec): Snapshot | undefined {
    const key = keyOf(spec.name, computeIdentity(spec));
    const entry = this.#known.get(key);
    const isKnown = entry !== undefined && !('isAbsent' in entry);
    const snapshot = this.#snapshots.get(key) ?? (isKnown ? snapshotOf(entry) : undefined);
    if (snapshot !== undefined) this.#snapshots.set(key, snapshot);
    return snapshot;
  }

  remember(spec: ServerSpec, snapshot: Snapshot): void {
    const identity = computeIdentity(spec);
    const key = keyOf(spec.name, identity);
    const before = this.recall(spec);
    this.#forgetNamesakes(spec.name, key);
    this.#snapshots.set(key, snapshot);
    if ((before !== undefined && isSame(before, snapshot)) || bytesIn(snapshot) > MAX_BYTES) return;
    this.#learn(key, { name: spec.name, identity, snapshot });
  }

  recallAbsence(spec: ServerSpec): boolean {
    const entry = this.#known.get(keyOf(spec.name, computeIdentity(spec)));
    return entry !== undefined && 'isAbsent' in entry && this.recall(spec) === undefined;
  }

  rememberAbsence(spec: ServerSpec): void {
    if (this.recall(spec) !== undefined || this.recallAbsence(spec)) return;
    const identity = computeIdentity(spec);
    this.#learn(keyOf(spec.name, identity), { name: spec.name, identity, snapshot: undefined });
  }

  #learn(key: string, one: ServerSnapshot): void {
    this.#learnt.set(key, one);
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_AFTER_MS).unref();
  }

  /** Keeps only the last server of a name in memory, however often its command is edited. */
  #forgetNamesakes(name: string, but: string): void {
    for (const key of this.#snapshots.keys())
      if (key !== but && key.endsWith(` ${name}`)) this.#snapshots.delete(key);
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Keeps what other processes wrote meanwhile. */
  async #write(): Promise<void> {
    if (this.#learnt.size === 0) return;
    const { path, log } = this.#options;
    const learnt = new Map(this.#learnt);
    const all = readEntries(path);
    for (const [key, one] of learnt) all.set(key, entryOf(one));
    const folder = await ensureFolder(dirname(path));
    const written = folder.ok ? await writeAtomically(path, textOf([...all.values()]), 0o600) : folder;
    if (written.ok) {
      for (const [key, one] of learnt) if (this.#learnt.get(key) === one) this.#learnt.delete(key);
      await this.#writeAgainIfLost(learnt);
      return;
    }
    log.warn('the catalog of the servers could not be saved', { path, cause: written.error.reason });
  }

  /** Another process may have read the file before our write and written it afterwards, dropping our changes. */
  async #writeAgainIfLost(learnt: ReadonlyMap<string, ServerSnapshot>): Promise<void> {
    await pause(LOST_AFTER_MS);
    const there = readEntries(this.#options.path);
    for (const [key, one] of learnt)
      if (!there.has(key) && !this.#learnt.has(key)) this.#learnt.set(key, one);
    if (this.#learnt.size > 0 && ++this.#attempts < MAX_ATTEMPTS) await this.#write();
    this.#attempts = 0;
  }
}

function keyOf(name: string, identity: string): string {
  return `${identity} ${name}`;
}

/** The first line holds the format, the version and the hash of the rest. */
function textOf(entries: readonly FileEntry[]): string {
  let bytes = 0;
  const kept = entries
    .toSorted((a, b) => b.seenMs - a.seenMs)
    .slice(0, MAX_SERVERS)
    .filter((entry) => (bytes += sizeOf(entry)) <= MAX_TOTAL_BYTES);
  const body = JSON.stringify(kept);
  return `${JSON.stringify({ format: FORMAT, version: VERSION, sha256: sha256(body) })}\n${body}\n`;
}

function bytesIn({ inventory }: Snapshot): number {
  return Object.values(inventory)
    .flat()
    .reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function sizeOf(entry: FileEntry): number {
  return Object.values('isAbsent' in entry ? {} : entry.lists)
    .flat()
    .reduce((sum, [, text]) => sum + text.length, 0);
}

function readEntries(path: string): Entries {
  const text = readTextNow(path);
  const end = text.ok ? text.value.indexOf('\n') : -1;
  if (!text.ok || end < 0) return new Map();
  const body = text.value.slice(end + 1, -1);
  const head = JSON.stringify({ format: FORMAT, version: VERSION, sha256: sha256(body) });
  if (text.value.slice(0, end) !== head) return new Map();
  // The hash proves that this program wrote it.
  const entries = JSON.parse(body) as readonly FileEntry[];
  return new Map(entries.map((entry) => [keyOf(entry.name, entry.identity), entry]));
}

const WHOLE: Definition['fitness'] = { legacy: { kind: 'whole' }, modern: { kind: 'whole' } };

function snapshotOf({ snapshot, lists }: KnownEntry): Snapshot {
  const inventory = Object.fromEntries(
    Object.entries(lists).map(([kind, definitions]) => [
      kind,
      definitions.map((definition) => definitionOf(definition, kind === 'tools')),
    ]),
  ) as unknown as Inventory; // the same keys
  return { ...snapshot, instructions: snapshot.instructions, inventory };
}

function definitionOf([key, text, accepted, facts]: FileDefinition, isTool: boolean): Definition {
  const bytes = Buffer.from(text);
  const fitness = accepted ?? WHOLE;
  const parameters = isTool && fitness.modern.kind !== 'withheld' ? findHeaderParameters(bytes) : undefined;
  const danglingReference = isTool ? describeDanglingReference(bytes) : undefined;
  return {
    ...{ key: key ?? undefined, bytes, fitness, parameters, ...(facts && { facts }) },
    ...(danglingReference !== undefined && { danglingReference }),
  };
}

function entryOf({ name, identity, snapshot: given }: ServerSnapshot): FileEntry {
  if (given === undefined) return { name, identity, seenMs: Date.now(), isAbsent: true };
  const { inventory, ...snapshot } = given;
  const lists = Object.fromEntries(
    Object.entries(inventory).map(([kind, definitions]) => [kind, definitions.flatMap(writable)]),
  ) as unknown as KnownEntry['lists']; // the same keys
  return { name, identity, seenMs: Date.now(), snapshot, lists };
}

/**
 * Text that is not valid UTF-8 would not survive a round trip, so it is omitted; its server lists it again when ready.
 */
function writable({ key, bytes, fitness, facts }: Definition): readonly FileDefinition[] {
  if (!isUtf8(bytes)) return [];
  const isWhole = fitness.legacy.kind === 'whole' && fitness.modern.kind === 'whole';
  if (facts !== undefined) return [[key ?? null, bytes.toString(), isWhole ? null : fitness, facts]];
  return [isWhole ? [key ?? null, bytes.toString()] : [key ?? null, bytes.toString(), fitness]];
}

/** Unchanged definitions are the same objects (`readList` keeps them). */
function isSame(one: Snapshot, other: Snapshot): boolean {
  const facts = ({ inventory, ...rest }: Snapshot): string => JSON.stringify(Object.entries(rest).sort());
  const kinds = Object.keys(one.inventory) as readonly ListKind[];
  return (
    facts(one) === facts(other) &&
    kinds.every((kind) => {
      const [before, after] = [one.inventory[kind], other.inventory[kind]];
      return before.length === after.length && before.every((definition, at) => definition === after[at]);
    })
  );
}
