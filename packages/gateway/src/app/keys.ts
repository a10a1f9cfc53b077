import { randomBytes, randomUUID } from 'node:crypto';
import { DerivedKeys, readRetiringKeys } from '../adapters/auth/derived-keys.ts';
import { findKeyFault, KeyCheck } from '../adapters/auth/key-check.ts';
import { ServerCredentials } from '../adapters/auth/server-credentials.ts';
import { createSignedTaskIds } from '../adapters/auth/task-ids.ts';
import { maskApprovalArguments, maskArguments } from '../adapters/telemetry/shown-arguments.ts';
import type { KeyReport } from '../core/check-keys.ts';
import type { StoreFacts } from '../core/check-machine.ts';
import type { ReachRules } from '../core/reach-rules.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../core/sentences.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { watchFile } from '@assay-mcp/kit/platform/watch-file';
import type { Settings } from '../core/settings.ts';
import { type RelayDeps, relayDeps, type RelayDepsOptions } from '../gateway/catalog/call-deps.ts';
import { StoredResults } from '../gateway/catalog/stored-results.ts';
import { Approvals } from '../gateway/catalog/approvals.ts';
import type { Credentials } from '../gateway/ports/credentials.ts';
import { createRelay } from '../gateway/relay/pipeline.ts';
import type { Relay } from '../gateway/relay/call.ts';
import type { Sealer, TaskAccess, TaskIds } from '../gateway/ports/sealing.ts';
import type { Store, StoredKey } from '../gateway/ports/store.ts';
import { type Environment, type HomeStore, getVariable } from './environment.ts';

interface CredentialsOptions {
  readonly isPersonal?: boolean | undefined;
  readonly rules: ReachRules;
}

/** The stored sign-ins of this home. The caller closes it. */
export function openCredentials(
  { keys, log, secrets, store }: Pick<Environment, 'keys' | 'log' | 'secrets' | 'store'>,
  { isPersonal = false, rules }: CredentialsOptions,
): Credentials {
  return new ServerCredentials({
    store,
    keys,
    learn: (found, owner) => (owner === undefined ? secrets.add(found) : secrets.addRotating(owner, found)),
    isPersonal,
    log,
    rules,
  });
}

/** Keys for what clients carry. Homes that share a database have the same encryption key only if a variable names it. */
export function createDerivedKeys({
  keys,
  configEnvironment,
  log,
}: Pick<Environment, 'keys' | 'configEnvironment' | 'log'>): DerivedKeys {
  const isCommon = keys.isShared || getVariable(configEnvironment.env, 'ASSAY_DATABASE_URL') === undefined;
  return new DerivedKeys({ keys, isCommon, log });
}

/** Compares the encryption keys with that of the store, from now on. The returned function tells the present fault. */
export async function followKeys(environment: Environment, store: Store): Promise<() => Refusal | undefined> {
  const { keys, log, cleanup } = environment;
  const isDerived = createDerivedKeys(environment).isUsed;
  const check = new KeyCheck({ keys, isDerived, store, log });
  // Servers whose entries or secrets need a key from a changed file do not wait for a request.
  const watching = keys.file === undefined ? undefined : watchFile(keys.file, () => void keys.read(true));
  cleanup.defer(async () => {
    watching?.close();
    await check.close();
  });
  await check.start();
  return () => check.fault;
}

/** Compares the encryption keys with a store that is not opened for it. */
export async function inspectKeys(
  environment: Pick<Environment, 'keys' | 'configEnvironment' | 'log'>,
  { is, keyCheck }: Pick<StoreFacts, 'is' | 'keyCheck'>,
): Promise<KeyReport> {
  const read = await environment.keys.read();
  const keys = read.ok ? read.value : [];
  return {
    fault: read.ok ? findKeyFault(keys, keyCheck) : read.error,
    count: keys.length,
    place: keys[0]?.place,
    areStored: is === 'whole' && !createDerivedKeys(environment).isUsed,
  };
}

/** Approvals of calls, which are kept in the store of the home. */
export function openApprovals(
  { store, telemetry, secrets, options, cleanup }: Environment,
  settings: Settings,
): Approvals {
  const approvals = new Approvals({
    openStore: () => store.open(),
    limits: settings,
    nowMs: () => Date.now(),
    shownArguments: (text) => maskArguments(text, telemetry.mask),
    argumentsToApprove: (text) => maskApprovalArguments(text, (shown) => secrets.maskKnown(shown)),
    isUsersClient: options.transport === 'pipe',
  });
  cleanup.defer(() => approvals.close());
  return approvals;
}

/** The call pipeline. The ciphers are loaded on first use. */
export function openRelay(
  environment: Pick<
    Environment,
    'keys' | 'configEnvironment' | 'log' | 'store' | 'options' | 'telemetry' | 'cleanup'
  >,
  settings: Settings,
  given: Pick<RelayDepsOptions, 'policy' | 'labels' | 'callLog' | 'approvals' | 'tasks'>,
): Relay {
  const { log, store, options, telemetry, cleanup } = environment;
  const derivedKeys = createDerivedKeys(environment);
  let sealer: Promise<Sealer> | undefined;
  const load = async (): Promise<Sealer> => {
    const { KeySealer } = await import('../adapters/auth/sealer.ts');
    return new KeySealer({ derivedKeys, log, openStore: () => store.open() });
  };
  const loaded = (): Promise<Sealer> => (sealer ??= load());
  const storedResults = new StoredResults({
    open: () => store.open(),
    createId: () => randomBytes(16).toString('base64url'),
    nowMs: () => Date.now(),
  });
  cleanup.defer(() => storedResults.close());
  const replica = `${process.pid} ${Date.now()} ${Math.random()}`;
  const deps: RelayDeps = relayDeps({
    replica,
    limits: { ...settings, ...options.limits },
    ...given,
    storedResults,
    telemetry,
    retries: { log },
    sealer: {
      seal: async (text, sealing) => (await loaded()).seal(text, sealing),
      open: async (sealed, opening) => (await loaded()).open(sealed, opening),
    },
  });
  return createRelay(deps);
}

const PURPOSE = 'task-ids';
const KEY_BYTES = 32;
/** After a failure the store is not asked again for this many ms, so that tasks do not wait for it. */
const RETRY_MS = 10_000;
/** Time in ms that tasks wait for the store. */
const WAIT_MS = 1_000;
const WARNING = 'ids of tasks will not outlast this process';

/** Task ids under a key that survives a restart and is the same on every replica. */
export function openTaskIds(
  environment: Pick<Environment, 'keys' | 'configEnvironment' | 'log' | 'store'>,
): TaskAccess['ids'] {
  const derivedKeys = createDerivedKeys(environment);
  return derivedKeys.isUsed ? deriveTaskIds(environment, derivedKeys) : openStoredTaskIds(environment);
}

/**
 * Under derived keys: the newest one signs. Ids that were signed with a key of the store, before keys were derived, are
 * valid until that key has retired.
 */
function deriveTaskIds({ store }: Pick<Environment, 'store'>, derivedKeys: DerivedKeys): TaskAccess['ids'] {
  const passing = randomBytes(KEY_BYTES);
  const readRetiring = createRetiringReader(store);
  let known: { readonly from: readonly (readonly StoredKey[])[]; readonly ids: TaskIds } | undefined;
  return async () => {
    const from = [await derivedKeys.list(PURPOSE, WARNING), await readRetiring()];
    if (known?.from.every((keys, at) => keys === from[at]) === true) return known.ids;
    const [derived = [], retiring = []] = from;
    const bytes = (keys: readonly StoredKey[]): readonly Buffer[] => keys.map((key) => key.bytes);
    const [newest, ...older] = bytes(derived);
    // What was issued while there was no encryption key remains valid.
    const others = [...older, ...bytes(retiring)];
    const ids = createSignedTaskIds(
      newest === undefined ? [passing, ...others] : [newest, ...others, passing],
    );
    known = { from, ids };
    return ids;
  };
}

const NONE: readonly StoredKey[] = [];

/** The keys of the store that are still valid. */
function createRetiringReader(store: HomeStore): () => Promise<readonly StoredKey[]> {
  let read: { readonly keys: readonly StoredKey[]; readonly untilMs: number } | undefined;
  let startedMs = -Infinity;
  const start = async (): Promise<void> => {
    startedMs = performance.now();
    const opened = await store.open();
    const found = opened.ok ? await readRetiringKeys(opened.value, PURPOSE, Date.now()) : opened;
    if (found.ok) read = found.value;
  };
  return async () => {
    // New tasks do not need the store, so they do not wait for one that hangs.
    if (read === undefined && performance.now() - startedMs > RETRY_MS) await waitAtMost(start(), WAIT_MS);
    return read !== undefined && Date.now() < read.untilMs ? read.keys : NONE;
  };
}

/**
 * Task ids under a key from the store, so that they survive a restart and are valid on every replica. The store is
 * opened for the first task. While it is unavailable, a key of this process is used.
 */
function openStoredTaskIds({ log, store }: Pick<Environment, 'log' | 'store'>): TaskAccess['ids'] {
  const passing = randomBytes(KEY_BYTES);
  const alone = createSignedTaskIds([passing]);
  let asking: Promise<TaskIds | undefined> | undefined;
  let failedMs: number | undefined;
  const ask = async (): Promise<TaskIds | undefined> => {
    const key = await keyOf(store);
    // Ids issued meanwhile remain valid when the store is back.
    if (key.ok) return createSignedTaskIds([key.value, passing]);
    const cause = formatRefusal(key.error);
    if (failedMs === undefined) log.warn(WARNING, { cause });
    failedMs = performance.now();
    asking = undefined;
    return undefined;
  };
  return async () => {
    if (asking === undefined && failedMs !== undefined && performance.now() - failedMs < RETRY_MS)
      return alone;
    asking ??= ask();
    return (await asking) ?? alone;
  };
}

async function keyOf(store: HomeStore): Promise<Result<Buffer, Refusal>> {
  const opened = await store.open();
  if (!opened.ok) return opened;
  const bytes = randomBytes(KEY_BYTES);
  const wanted = { id: randomUUID(), purpose: PURPOSE, bytes, createdMs: Date.now() };
  const kept = await opened.value.ensureKey(wanted);
  return kept.ok ? ok(kept.value.bytes) : kept;
}
