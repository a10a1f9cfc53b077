import { digestOfJson } from '../../core/digest.ts';
import { sentenceOf } from '../../core/sentences.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import { identityOf } from '../../core/server-identity.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { ListKind, Log, Snapshot } from '../../gateway/ports/link.ts';
import type { SeenDefinition, SeenServer, Store } from '../../gateway/ports/store.ts';
import { pause } from '../../platform/turns.ts';

/** How a server was seen when it stood, or when its lists changed. */
export interface Sighting {
  readonly spec: ServerSpec;
  readonly snapshot: Snapshot;
  /** Whether that differs from what was known of it. */
  readonly isNews: boolean;
}

/** Tells the store how servers were seen. */
export interface Recorder {
  record(seen: Sighting): void;
  /** Writes what is not yet written. */
  close(): Promise<void>;
}

export interface RecorderOptions {
  /** Opened when there is something to write. One that is open already may not know servers that have not changed. */
  readonly store: { readonly isOpen: boolean; readonly open: () => Promise<Result<Store, Refusal>> };
  readonly log: Log;
}

/** What is seen within this many ms of one server is written once. */
const RECORD_AFTER_MS = 1_000;
/** What could not be written, for a lock or a full disk, is tried again after so many ms. */
const RETRY_MS = 10_000;
/** After so many ms of digests other work gets its turn. */
const LONGEST_TURN_MS = 10;

export function recorder({ store, log }: RecorderOptions): Recorder {
  const waiting = new Map<string, Sighting>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const tellBug = (error: unknown): undefined => logBug(log, error);
  const known = store.isOpen ? knownIn(store).catch(tellBug) : undefined;
  const failing = new Set<string>();
  let isClosing = false;
  const flushAfter = (ms: number): void => {
    timer ??= setTimeout(() => void flush(), ms).unref();
  };
  const fail = (seen: Sighting, refusal: Refusal): void => {
    const { name } = seen.spec;
    if (isClosing || !failing.has(name))
      log.warn('how a server was seen could not be saved', { server: name, cause: sentenceOf(refusal) });
    failing.add(name);
    if (refusal.code !== 'STORE_UNAVAILABLE') return;
    // It may have been seen again meanwhile, and then that is how it was seen last.
    waiting.set(name, { ...(waiting.get(name) ?? seen), isNews: true });
    if (!isClosing) flushAfter(RETRY_MS);
  };
  const save = async (seen: Sighting, target: Store): Promise<void> => {
    const saved = await target.saveServer(await asSeen(seen));
    const { name: server } = seen.spec;
    if (!saved.ok) fail(seen, saved.error);
    else if (failing.delete(server)) log.info('how a server was seen could be saved again', { server });
    if (saved.ok) (await known)?.add(keyOf(seen.spec));
  };
  const write = async (): Promise<void> => {
    const sightings = [...waiting.values()];
    waiting.clear();
    const wanted: Sighting[] = [];
    for (const seen of sightings)
      if (seen.isNews || (await known)?.has(keyOf(seen.spec)) === false) wanted.push(seen);
    if (wanted.length === 0) return;
    const opened = await store.open();
    for (const seen of wanted)
      if (opened.ok) await save(seen, opened.value);
      else fail(seen, opened.error);
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write).catch(tellBug);
    return writing;
  };
  return {
    record(seen) {
      const before = waiting.get(seen.spec.name);
      waiting.set(seen.spec.name, { ...seen, isNews: seen.isNews || before?.isNews === true });
      flushAfter(RECORD_AFTER_MS);
    },
    close() {
      isClosing = true;
      return flush();
    },
  };
}

/** Nobody waits for what is written now and then, so a bug in it is told here. */
function logBug(log: Log, error: unknown): undefined {
  const shown = error instanceof Error ? error.stack : String(error);
  log.error('how servers were seen could not be saved: something failed inside Assay', { error: shown });
}

/** What the store knows; undefined where it cannot be asked. */
async function knownIn(store: RecorderOptions['store']): Promise<Set<string> | undefined> {
  const opened = await store.open();
  const servers = opened.ok ? await opened.value.servers() : opened;
  return servers.ok ? new Set(servers.value.map(({ name, identity }) => `${identity} ${name}`)) : undefined;
}

function keyOf(spec: ServerSpec): string {
  return `${identityOf(spec)} ${spec.name}`;
}

async function asSeen({ spec, snapshot }: Sighting): Promise<SeenServer> {
  const { inventory, ...facts } = snapshot;
  const definitions: SeenDefinition[] = [];
  let startMs = performance.now();
  for (const kind of Object.keys(inventory) as readonly ListKind[])
    for (const { key, bytes } of inventory[kind]) {
      const text = bytes.toString();
      const digest = digestOfJson(text);
      if (digest !== undefined) definitions.push({ kind, key, text, digest });
      if (performance.now() - startMs < LONGEST_TURN_MS) continue;
      await pause(0);
      startMs = performance.now();
    }
  return { ...facts, name: spec.name, identity: identityOf(spec), seenMs: Date.now(), definitions };
}
