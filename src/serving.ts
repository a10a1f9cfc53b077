import { join } from 'node:path';
import { ensureAdminToken } from './admin-token.ts';
import { mintToken } from './adapters/auth/mint-token.ts';
import { announceServe, findServe, SERVE_FILE, withdrawServe } from './adapters/store/running-serve.ts';
import { openMeter } from './adapters/telemetry/metrics.ts';
import type { Refusal } from './core/refusal.ts';
import { VERSION } from './core/identity.ts';
import { ok, type Result } from './core/result.ts';
import { steadyClock, type MintedToken } from './core/token.ts';
import type { OpenServe, ServeOptions } from './edges/cli/runtime.ts';
import type { Settings } from './core/settings.ts';
import { isLoopback } from './edges/mcp/guard.ts';
import { openHttpDoor, type HttpDoor } from './edges/mcp/http-door.ts';
import { openRest } from './open-rest.ts';
import { sentenceOf } from './core/sentences.ts';
import type { Meter } from './gateway/ports/telemetry.ts';
import type { Store } from './gateway/ports/store.ts';
import { openGround, openHomeStore, setting, type Ground, type GroundOptions } from './ground.ts';
import { openGate, placeOf } from './open-gate.ts';
import { openToolsets, type OpenToolsets } from './open-toolsets.ts';
import { openConfigured, type OpenedConfig } from './opening.ts';

/** Opens the HTTP door of a catalog, with all that stands behind it: store, tokens, metrics. */
export async function openServe(given: ServeOptions): Promise<Result<OpenServe, Refusal>> {
  const meter = openMeter(VERSION);
  const options = { ...given, isQuiet: false, transport: 'tcp', meter } as const;
  const ground = await openGround(options);
  if (!ground.ok) return ground;
  const store = await openHomeStore(ground.value);
  if (!store.ok) return store;
  const served = await serveFrom(options, ground.value, store.value);
  if (!served.ok) await store.value.close();
  return served;
}

type Options = ServeOptions & GroundOptions & { readonly meter: Meter };

async function serveFrom(
  options: Options,
  ground: Ground,
  store: Store,
): Promise<Result<OpenServe, Refusal>> {
  const { host } = options;
  const operatorToken = setting('ASSAY_TOKEN');
  // Whoever sets ASSAY_TOKEN or names an issuer wants tokens to be asked for, also on loopback.
  const isOpenWith = (given: Settings): boolean =>
    given['mcp.access'] === 'open' && operatorToken === undefined && given['auth.issuer'] === '';
  const needsTokenWith = (given: Settings): boolean => !isOpenWith(given) || !isLoopback(host);
  const opened = await openConfigured(options, ground, {
    store,
    isPersonal: needsTokenWith,
    isOnNetwork: !isLoopback(host),
  });
  if (!opened.ok) return opened;
  const { catalog, configPath, settings } = opened.value;
  const isPersonal = needsTokenWith(settings);
  const shown = await openToolsets(catalog, { ground, settings, store: opened.value.store, isPersonal });
  const known = await shown.toolsets.ready();
  if (!known.ok) {
    await opened.value.close();
    return known;
  }
  const isOpen = isOpenWith(settings);
  const door = await openDoor({ ...options, operatorToken, isOpen }, ground, {
    store,
    opened: opened.value,
    shown,
  });
  if (!door.ok) {
    await shown.close();
    await opened.value.close();
    return door;
  }
  opened.value.start();
  const { url, ownToken, adminTokenPath } = door.value;
  const withdraw = await announce(ground, url, ownToken);
  const close = async (): Promise<void> => {
    await withdraw();
    // Servers stop last: until then they answer what is under way.
    await door.value.close();
    await shown.close();
    await opened.value.close();
    await store.close();
  };
  return ok({
    catalog,
    configPath,
    url,
    needsToken: isPersonal,
    adminTokenPath,
    equipped: () => shown.toolsets.equipped,
    hasModes: settings.enableConfigToolsMenu,
    close,
  });
}

interface DoorWish extends Options {
  readonly operatorToken: string | undefined;
  /** Whether MCP needs no token. */
  readonly isOpen: boolean;
}

interface Standing {
  readonly store: Store;
  readonly opened: OpenedConfig;
  readonly shown: OpenToolsets;
}

interface OpenDoor extends HttpDoor, Pick<OpenServe, 'adminTokenPath'> {
  readonly ownToken: MintedToken;
}

/** The HTTP door, with the gate of tokens and the REST API. */
async function openDoor(
  { host, port, meter, operatorToken, isOpen }: DoorWish,
  ground: Ground,
  { store, opened, shown }: Standing,
): Promise<Result<OpenDoor, Refusal>> {
  const { log } = ground;
  const { settings, catalog, rules } = opened;
  const { views, toolsets } = shown;
  const place = placeOf(settings, host);
  if (!place.ok) return place;
  const { resource } = place.value ?? {};
  const makesToken = isLoopback(host) && operatorToken === undefined;
  const adminTokenPath = makesToken ? await ensureAdminToken(store, ground) : undefined;
  const ownToken = mintToken();
  const nowMs = steadyClock();
  const gate = await openGate({
    store,
    operatorToken,
    ownToken,
    settings,
    resource,
    rules,
    log,
    clock: nowMs,
  });
  const others = openRest({
    ...{ opened, store, toolsets, gate, resource, nowMs },
    mayExecute: isLoopback(host),
  });
  const door = await openHttpDoor({
    host,
    port,
    gate,
    resource,
    isOpen,
    settings,
    catalog,
    log,
    meter,
    views,
    others,
    storeFault: () => store.fault && sentenceOf(store.fault),
  });
  if (!door.ok) {
    gate.close();
    return door;
  }
  place.value?.listensAt(door.value.url);
  const close = async (): Promise<void> => {
    await door.value.close();
    gate.close();
  };
  return ok({ url: door.value.url, ownToken, adminTokenPath, close });
}

const ANNOUNCE_EVERY_MS = 5_000;

/** Leaves word where this is reached, for `assay stdio --attach`. To be called when it no longer is. */
async function announce(
  { home, log }: Ground,
  url: string,
  { text: token }: MintedToken,
): Promise<() => Promise<void>> {
  const { pid } = process;
  const path = join(home, SERVE_FILE);
  const word = { url, pid, token };
  const cause = await announceServe(path, word);
  if (cause !== undefined) log.warn('`assay stdio --attach` will not find this', { path, cause });
  // Another `serve` of this home takes its word with it when it ends, and the place is free.
  const again = setInterval(() => {
    void findServe(path).then((found) => (found === undefined ? announceServe(path, word) : undefined));
  }, ANNOUNCE_EVERY_MS).unref();
  return () => {
    clearInterval(again);
    return withdrawServe(path, pid);
  };
}
