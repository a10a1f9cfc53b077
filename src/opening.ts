import { join } from 'node:path';
import { attachedView, followServe, planOfServe, type Shown } from './attach.ts';
import { type Config, emptyConfig, loadConfig } from './adapters/config/load-config.ts';
import { locateConfig } from './adapters/config/locate-config.ts';
import type { Watching } from './adapters/config/watch-file.ts';
import { downstream } from './adapters/upstream/connect.ts';
import { openCatalogFile } from './adapters/store/catalog-file.ts';
import { recorder } from './adapters/store/recorder.ts';
import { SERVE_FILE } from './adapters/store/running-serve.ts';
import { limitedLog } from './adapters/telemetry/limited-log.ts';
import { maskedConnect } from './adapters/telemetry/masked-connect.ts';
import { secretsOfServer } from './adapters/telemetry/secret-values.ts';
import type { ReachRules } from './core/reach.ts';
import type { Refusal } from './core/refusal.ts';
import { OWN_INFO } from './core/identity.ts';
import { err, ok, type Result } from './core/result.ts';
import { sentenceOf } from './core/sentences.ts';
import type { ServerSpec } from './core/server-spec.ts';
import {
  ignoredSentence,
  ignoredSettings,
  isStorable,
  type Resolved,
  resolveSettings,
} from './core/resolve-settings.ts';
import type { SettingKey, Settings } from './core/settings.ts';
import type { OpenCatalog } from './edges/cli/runtime.ts';
import type { EarlyStart } from './early-start.ts';
import { connectAll } from './connecting.ts';
import { reachIn } from './reach-in.ts';
import { openCredentials } from './open-credentials.ts';
import { followConfig, report } from './follow-config.ts';
import { Catalog, type Plan } from './gateway/catalog/catalog.ts';
import type { SoleClient } from './gateway/catalog/client-session.ts';
import type { Log } from './gateway/ports/link.ts';
import type { Store } from './gateway/ports/store.ts';
import type { View } from './gateway/catalog/view.ts';
import { hasHomeStore, openGround, openHomeStore, type Ground, type GroundOptions } from './ground.ts';
import type { Era } from './protocol/eras.ts';
import { askingWith } from './sealing.ts';
import { homeStore, type HomeStore } from './home-store.ts';
import { isThere } from './platform/files.ts';
import { openTaskIds } from './task-ids.ts';
import { openWords, type OpenWords, reviewing } from './open-words.ts';

export interface Opened extends OpenCatalog {
  readonly log: Log;
  readonly settings: Settings;
  /** `settings` of the config file, as it was read. */
  readonly fileSettings: ReadonlyMap<string, unknown>;
  /** Where this process may reach. */
  readonly rules: ReachRules;
  readonly ground: Ground;
  readonly store: HomeStore;
  /** What a running `serve` shows, where it is all that there is. */
  readonly attached?: View;
  /** Starts the servers, and lets them follow the config where the command lasts. */
  readonly start: () => void;
}

/** The same where the words of operators are known too. */
export interface OpenedConfig extends Opened {
  readonly said: OpenWords;
}

/** Reads the config and what is remembered of its servers. Nothing is started yet. */
export async function openCatalog(
  options: GroundOptions,
  before?: Before,
): Promise<Result<OpenedConfig, Refusal>> {
  const ground = await openGround(options);
  return ground.ok ? openConfigured(options, ground.value, before) : ground;
}

/** What stands already. */
export interface Before {
  readonly store?: Store | undefined;
  /** Whether clients come with tokens, so that each subject signs in at servers for itself. */
  readonly isPersonal?: ((settings: Settings) => boolean) | undefined;
  readonly early?: EarlyStart | undefined;
  /** The only client that there will be, if there will be but one. */
  readonly sole?: SoleClient | undefined;
  /** Whether other machines reach Assay: what clients do not come to listens nowhere. */
  readonly isOnNetwork?: boolean;
  /** Sources are about to be added, so that there need be none yet. */
  readonly isForDesks?: boolean;
}

/** The same on a ground that stands. */
export async function openConfigured(
  options: GroundOptions,
  ground: Ground,
  before: Before = {},
): Promise<Result<OpenedConfig, Refusal>> {
  const { around, log } = ground;
  const configured = await readConfig(options, ground, before);
  if (!configured.ok) return configured;
  const { config, absence, settings, learn } = configured.value;
  const follow = options.isQuiet
    ? undefined
    : (catalog: Catalog) =>
        followConfig(config.path, { around, catalog, log, learn, isAbsent: absence !== undefined });
  const isRecorded = !options.isQuiet;
  const store = homeStore(ground, before.store);
  const said = await openWords(ground, store, settings['drift.prose']);
  // Who serves others knows what is said before it answers; a command does, where anything can have been said.
  const isAwaited = before.store !== undefined || (options.isQuiet && (await hasHomeStore(ground)));
  const known = isAwaited ? await said.words.ready() : ok(undefined);
  if (!known.ok && options.isQuiet)
    log.error('what operators say is as it was last known', { cause: sentenceOf(known.error) });
  const isEmpty = config.servers.length === 0 && !hasSources(said) && before.isForDesks !== true;
  const none = options.isQuiet ? ({ code: 'SERVERS_ABSENT', path: config.path } as const) : undefined;
  const unknown = known.ok || options.isQuiet ? undefined : known.error;
  const refusal = isEmpty ? (absence ?? none) : unknown;
  if (refusal !== undefined) {
    await said.close();
    await store.close();
    return err(refusal);
  }
  const tasks = options.isQuiet ? undefined : { isAlone: options.transport === 'pipe' };
  const rules = reachIn(settings, before.isOnNetwork);
  const here = { settings, rules, ground, said };
  const opened = await openPlan(config, { ...before, ...here, follow, isRecorded, tasks });
  const close = async (): Promise<void> => {
    await opened.close();
    await said.close();
    await store.close();
  };
  return ok({ ...opened, ...here, close, fileSettings: config.settings, store, configPath: config.path });
}

function hasSources({ words }: OpenWords): boolean {
  return (['gateway', 'rest-tool', 'function-module'] as const).some((kind) => words.all(kind).length > 0);
}

/** The servers of a running `serve` through it; where none runs, those of the config. */
export async function openAttached(
  options: GroundOptions & Shown,
  before: Before = {},
): Promise<Result<Opened, Refusal>> {
  const ground = await openGround(options);
  if (!ground.ok) return ground;
  const { around, home, log } = ground.value;
  const path = join(home, SERVE_FILE);
  const plan = await planOfServe(path, options);
  if (plan === undefined) {
    log.warn('no `assay serve` of this home is running, so the servers are started here', { home });
    return openConfigured(options, ground.value, before);
  }
  const resolved = resolveSettings({ env: around.env, file: new Map(), stored: new Map() });
  if (!resolved.ok) return resolved;
  const follow = (catalog: Catalog): Promise<Watching> => followServe(path, catalog, options);
  const { settings } = resolved.value;
  const here = { settings, rules: reachIn(settings), ground: ground.value };
  const opened = await openPlan(plan, {
    ...here,
    follow,
    sole: before.sole,
    isRecorded: false,
    tasks: { isAlone: true },
  });
  return ok({
    ...opened,
    ...here,
    fileSettings: new Map(),
    store: homeStore(ground.value, undefined),
    attached: attachedView(opened.catalog),
    configPath: path,
  });
}

export interface Configured extends Resolved {
  readonly config: Config;
  /** Why there is no config file; an empty one stands in its place, as sources may be registered. */
  readonly absence: Refusal | undefined;
  /** Stored settings that have no effect, as they come from environment and config file only. */
  readonly ignored: readonly SettingKey[];
  /** Told of each good config before anything is made of it: what of it is secret is masked from then on. */
  readonly learn: (plan: Plan) => void;
}

/** The config file and the settings that hold. */
export async function readConfig(
  options: GroundOptions,
  { around, log, secrets }: Ground,
  { store, early }: Before = {},
): Promise<Result<Configured, Refusal>> {
  const { path } = locateConfig({ flag: options.config, ...around });
  const loaded = early?.config ?? (await loadConfig(path, around));
  const absence = loaded.ok || (await isThere(path)) ? undefined : loaded.error;
  const config = absence === undefined ? loaded : ok(emptyConfig(path));
  if (!config.ok) return config;
  const learn = ({ servers }: Plan): void => secrets.add(servers.flatMap(secretsOfServer));
  learn(config.value);
  report(config.value, log);
  const stored = store === undefined ? ok(new Map<string, unknown>()) : await store.settings();
  if (!stored.ok) return stored;
  const ignored = ignoredSettings(stored.value);
  for (const key of ignored) log.warn(ignoredSentence(key), { setting: key });
  const resolved = resolveSettings({
    env: around.env,
    file: config.value.settings,
    // One that an older or newer Assay stored must not keep this one from starting.
    stored: new Map([...stored.value].filter(([key, value]) => isStorable(key, value))),
  });
  return resolved.ok ? ok({ ...resolved.value, config: config.value, absence, ignored, learn }) : resolved;
}

/** The watching of files begins so many ms after the start, which others need more. */
const FOLLOW_AFTER_MS = 500;

interface Planning extends Before {
  readonly ground: Ground;
  readonly settings: Settings;
  readonly rules: ReachRules;
  readonly follow: ((catalog: Catalog) => Promise<Watching>) | undefined;
  /** Whether the store is told how servers were seen. */
  readonly isRecorded: boolean;
  /** Undefined: no tasks are offered. `isAlone`: the process has one client. */
  readonly tasks: { readonly isAlone: boolean } | undefined;
  readonly said?: OpenWords;
}

async function openPlan(
  plan: Plan,
  { ground, settings, rules, follow, store, early, sole, isRecorded, isPersonal, tasks, said }: Planning,
): Promise<Pick<Opened, 'catalog' | 'log' | 'start' | 'close'>> {
  const { home, log, telemetry } = ground;
  const record = isRecorded ? recorder({ store, open: () => openHomeStore(ground), log }) : undefined;
  const memory = await openCatalogFile({
    path: join(home, 'catalog.json'),
    log,
    onSeen: (seen) => record?.record(seen),
  });
  const recallEra = (spec: ServerSpec): Era | undefined => memory.recall(spec)?.era;
  const credentials = openCredentials(ground, { store, isPersonal: isPersonal?.(settings), rules });
  const servers = downstream({
    log: ofServers(log, settings),
    recallEra,
    credentials,
    ownInfo: JSON.stringify(OWN_INFO),
    backlogBytes: settings['limits.backlogBytes'],
    rules,
    takeStarted: early?.take,
  });
  const sources = connectAll({ ...ground, downstream: servers, mask: telemetry.mask, rules });
  const catalog = new Catalog(plan, {
    connect: maskedConnect(sources.connect, telemetry),
    memory,
    log,
    ...reviewing(said, isRecorded),
    limits: settings,
    chance: Math.random,
    telemetry,
    asking: askingWith({ ground, settings, store }),
    sole,
    tasks: tasks && { ...tasks, ids: openTaskIds(ground, store) },
    credentials,
  });
  await said?.registered.follow(catalog);
  // Somebody has signed in: whoever waited for that stands up now.
  credentials.onNews((name) => void catalog.servers.find(({ spec }) => spec.name === name)?.tryNow());
  let watching: Promise<Watching> | undefined;
  let [timer, refreshing]: (NodeJS.Timeout | undefined)[] = [];
  const start = (): void => {
    catalog.start();
    if (isRecorded) refreshing = keepFresh(catalog, said, settings['servers.refreshMs']);
    if (follow !== undefined)
      timer = setTimeout(() => {
        watching = follow(catalog);
      }, FOLLOW_AFTER_MS).unref();
  };
  const close = async (): Promise<void> => {
    clearTimeout(timer);
    clearInterval(refreshing);
    await (await watching)?.close();
    await catalog.stop();
    await Promise.all([memory.flush(), record?.close(), credentials.close(), sources.close()]);
  };
  return { catalog, log, start, close };
}

/** What lasts learns what is said, and reads the lists of its servers again. A command that ends reads no store for that. */
function keepFresh(
  catalog: Catalog,
  said: OpenWords | undefined,
  everyMs: number,
): NodeJS.Timeout | undefined {
  void said?.words.ready();
  return everyMs > 0 ? setInterval(() => catalog.refresh(), everyMs).unref() : undefined;
}

/** What servers cause to be logged has a limit, for each of them. */
function ofServers(log: Log, settings: Settings): Log {
  return limitedLog(log, {
    linesPerSecond: settings['limits.serverLogLines'],
    nowMs: () => performance.now(),
    later: (work, afterMs) => setTimeout(work, afterMs).unref(),
  });
}
