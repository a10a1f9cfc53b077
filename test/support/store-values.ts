import { openStore } from '../../src/adapters/store/open-store.ts';
import type { Deed } from '../../src/core/deed.ts';
import { sha256 } from '../../src/core/digest.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import type { Result } from '../../src/core/result.ts';
import type { Toolset } from '../../src/core/toolset.ts';
import type { Log } from '../../src/gateway/ports.ts';
import type {
  SeenDefinition,
  SeenServer,
  Store,
  StoredCredential,
  StoredToken,
} from '../../src/gateway/ports/store.ts';
import type { AcceptedDefinition, WordChange } from '../../src/gateway/ports/words.ts';

/** Where a store is. */
export interface StorePlace {
  readonly home: string;
  readonly databaseUrl: string | undefined;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function tryStore(place: StorePlace, log: Log = SILENT): Promise<Result<Store, Refusal>> {
  return openStore({ ...place, log });
}

export function valueOf<T>(result: Result<T, Refusal>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

export function token(id: string, more: Partial<StoredToken> = {}): StoredToken {
  return {
    id,
    name: `name of ${id}`,
    scopes: ['read', 'mcp'],
    hash: 'ab'.repeat(32),
    createdMs: 1_790_000_000_123,
    expiresMs: undefined,
    revokedMs: undefined,
    ...more,
  };
}

export function definition(key: string, more: Partial<SeenDefinition> = {}): SeenDefinition {
  const text = JSON.stringify({ name: key });
  return { kind: 'tools', key, text, digest: `digest of ${text}`, ...more };
}

export function server(name: string, more: Partial<SeenServer> = {}): SeenServer {
  return {
    name,
    identity: 'one',
    era: 'legacy',
    version: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    instructions: undefined,
    seenMs: 1_790_000_000_123,
    definitions: [],
    ...more,
  };
}

export function credential(
  more: Partial<Omit<StoredCredential, 'revision'>>,
): Omit<StoredCredential, 'revision'> {
  return {
    server: 'linear',
    identity: 'one',
    issuer: 'https://issuer.example',
    subject: 'local',
    keyId: 'key',
    sealed: Buffer.from([0, 1, 255]),
    expiresMs: 1_790_000_000_123,
    savedMs: 1,
    ...more,
  };
}

/** A change of what is said of a tool: the first one, where no former one is given. */
export function wordChange(id: string, body: unknown, more: Partial<WordChange> = {}): WordChange {
  return { word: { kind: 'tool', id, body }, former: undefined, ...more };
}

export function accepted(id: string, more: Partial<AcceptedDefinition> = {}): AcceptedDefinition {
  return { id, digest: sha256(id), text: JSON.stringify({ name: id }), ...more };
}

export function deed(id: string, more: Partial<Deed> = {}): Deed {
  return {
    atMs: 1_790_000_000_123,
    subject: 'local',
    action: 'tool.update',
    target: { kind: 'tool', id, name: `name of ${id}` },
    ...more,
  };
}

export function toolset(name: string, more: Partial<Toolset> = {}): Toolset {
  return {
    name,
    createdMs: 1_790_000_000_123,
    changedMs: 1_790_000_000_456,
    tools: [],
    toolNotes: [],
    ...more,
  };
}
