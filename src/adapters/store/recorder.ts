import { digestOfJson } from '../../core/digest.ts';
import { sentenceOf } from '../../core/errors.ts';
import { identityOf } from '../../core/server-identity.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { ListKind, Log, SeenDefinition, SeenServer, Snapshot, Store } from '../../gateway/ports.ts';
import { pause } from '../../platform/waiting.ts';

export interface Recorder {
  /** Writes to the store, soon, how a server was seen. */
  record(spec: ServerSpec, snapshot: Snapshot): void;
  /** Writes what is not yet written. */
  flush(): Promise<void>;
}

/** What is seen within this many ms of one server is written once. */
const RECORD_AFTER_MS = 1_000;
/** After so many digests other work gets its turn. */
const DIGESTS_A_TURN = 50;

/** `open` is asked for the store when there is something to write, not before. */
export function recorder(open: () => Promise<Store | undefined>, log: Log): Recorder {
  const waiting = new Map<string, readonly [ServerSpec, Snapshot]>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    const entries = [...waiting.values()];
    waiting.clear();
    const store = entries.length === 0 ? undefined : await open();
    for (const [spec, snapshot] of store === undefined ? [] : entries) {
      const saved = await store?.saveServer(await seen(spec, snapshot));
      if (saved?.ok === false)
        log.warn('how a server was seen could not be saved', {
          server: spec.name,
          cause: sentenceOf(saved.error),
        });
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  return {
    record(spec, snapshot) {
      waiting.set(spec.name, [spec, snapshot]);
      timer ??= setTimeout(() => void flush(), RECORD_AFTER_MS).unref();
    },
    flush,
  };
}

async function seen(spec: ServerSpec, snapshot: Snapshot): Promise<SeenServer> {
  const { inventory, ...facts } = snapshot;
  const definitions: SeenDefinition[] = [];
  for (const kind of Object.keys(inventory) as readonly ListKind[])
    for (const { key, bytes } of inventory[kind]) {
      const text = bytes.toString();
      const digest = digestOfJson(text);
      if (digest !== undefined) definitions.push({ kind, key, text, digest });
      if (definitions.length % DIGESTS_A_TURN === 0) await pause(0);
    }
  return { ...facts, name: spec.name, identity: identityOf(spec), seenMs: Date.now(), definitions };
}
