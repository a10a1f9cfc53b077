import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyLocation } from '../adapters/auth/encryption-key.ts';
import { ServerCredentials } from '../adapters/auth/server-credentials.ts';
import { createSignedTaskIds } from '../adapters/auth/task-ids.ts';
import { maskApprovalArguments, maskArguments } from '../adapters/telemetry/shown-arguments.ts';
import type { ReachRules } from '../core/reach-rules.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../core/sentences.ts';
import type { Settings } from '../core/settings.ts';
import { type RelayDeps, relayDeps, type RelayDepsOptions } from '../gateway/catalog/call-deps.ts';
import { StoredResults } from '../gateway/catalog/stored-results.ts';
import { Approvals } from '../gateway/catalog/approvals.ts';
import type { Credentials } from '../gateway/ports/credentials.ts';
import { createRelay } from '../gateway/relay/pipeline.ts';
import type { Relay } from '../gateway/relay/call.ts';
import type { Sealer, TaskAccess, TaskIds } from '../gateway/ports/sealing.ts';
import { type Environment, type HomeStore, getVariable } from './environment.ts';

interface CredentialsOptions {
  readonly isPersonal?: boolean | undefined;
  readonly rules: ReachRules;
}

/** The stored sign-ins of this home. The caller closes it. */
export function openCredentials(
  {
    home,
    configEnvironment,
    log,
    secrets,
    store,
  }: Pick<Environment, 'home' | 'configEnvironment' | 'log' | 'secrets' | 'store'>,
  { isPersonal = false, rules }: CredentialsOptions,
): Credentials {
  return new ServerCredentials({
    store,
    place: getKeyLocation({ home, configEnvironment }),
    learn: (found, owner) => (owner === undefined ? secrets.add(found) : secrets.addRotating(owner, found)),
    isPersonal,
    log,
    rules,
  });
}

/** The location of the key that encrypts sign-ins. */
export function getKeyLocation({
  home,
  configEnvironment,
}: Pick<Environment, 'home' | 'configEnvironment'>): KeyLocation {
  return { home, given: getVariable(configEnvironment.env, 'ASSAY_ENCRYPTION_KEY') };
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
  {
    log,
    store,
    options,
    telemetry,
    cleanup,
  }: Pick<Environment, 'log' | 'store' | 'options' | 'telemetry' | 'cleanup'>,
  settings: Settings,
  given: Pick<RelayDepsOptions, 'policy' | 'labels' | 'callLog' | 'approvals' | 'tasks'>,
): Relay {
  let sealer: Promise<Sealer> | undefined;
  const load = async (): Promise<Sealer> => {
    const { KeySealer } = await import('../adapters/auth/sealer.ts');
    return new KeySealer({ log, openStore: () => store.open() });
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

/**
 * Task ids under a key from the store, so that they survive a restart and are valid on every replica. The store is
 * opened for the first task. While it is unavailable, a key of this process is used.
 */
export function openTaskIds({ log, store }: Pick<Environment, 'log' | 'store'>): TaskAccess['ids'] {
  const passing = randomBytes(KEY_BYTES);
  const alone = createSignedTaskIds([passing]);
  let asking: Promise<TaskIds | undefined> | undefined;
  let failedMs: number | undefined;
  const ask = async (): Promise<TaskIds | undefined> => {
    const key = await keyOf(store);
    // Ids issued meanwhile remain valid when the store is back.
    if (key.ok) return createSignedTaskIds([key.value, passing]);
    const cause = formatRefusal(key.error);
    if (failedMs === undefined) log.warn('ids of tasks will not outlast this process', { cause });
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
