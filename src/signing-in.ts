import { signIn } from './adapters/auth/sign-in.ts';
import { CredentialShelf } from './adapters/auth/credential-shelf.ts';
import { forget, shownCredentials } from './adapters/auth/sign-out.ts';
import { locateConfig } from './adapters/config/locate-config.ts';
import { loadConfig } from './adapters/config/load-config.ts';
import { secretsOfServer } from './adapters/telemetry/secret-values.ts';
import { VERSION } from './core/identity.ts';
import type { ReachRules } from './core/reach.ts';
import type { Refusal } from './core/refusal.ts';
import { resolveSettings } from './core/resolve-settings.ts';
import { err, ok, type Result } from './core/result.ts';
import { hasOwnAuthorization, type ServerSpec } from './core/server-spec.ts';
import type { CommonOptions } from './edges/cli/runtime.ts';
import type { ShownCredential, SignInRequest, SignOutReport } from './gateway/ports/credentials.ts';
import { openGround, openHomeStore, type Ground } from './ground.ts';
import { keyPlace } from './open-credentials.ts';
import { reachIn } from './reach-in.ts';
import { openBrowser } from './platform/browser.ts';
import { untilStopped } from './stopping.ts';

/** Has the person at this terminal sign in at a server of the config. */
export function signInAt(
  request: SignInRequest,
  options: CommonOptions,
): Promise<Result<ShownCredential, Refusal>> {
  return withShelf(options, async ({ shelf, servers, rules }) => {
    const spec = serverIn(servers, request.server);
    if (!spec.ok) return spec;
    const stopped = new AbortController();
    void untilStopped().then(() => stopped.abort());
    const deps = { shelf, openBrowser, version: VERSION, signal: stopped.signal, rules };
    const done = await signIn(spec.value, request, deps);
    if (!done.ok) return done;
    const shown = shownCredentials(await shelf.all(), servers);
    if (!shown.ok) return shown;
    const { server, subject, issuer } = done.value;
    const own = shown.value.find(
      (one) => one.server === server && one.subject === subject && one.issuer === issuer,
    );
    return own === undefined ? err({ code: 'AUTHORIZATION_UNKNOWN', server, subject }) : ok(own);
  });
}

/** All sign-ins of this home, without anything secret. */
export function listSignIns(options: CommonOptions): Promise<Result<readonly ShownCredential[], Refusal>> {
  return withShelf(options, async ({ shelf, servers }) => shownCredentials(await shelf.all(), servers));
}

/** Forgets what somebody has at a server, of whatever address, and tells its issuer where that can be told. */
export function signOutAt(
  { server, subject }: Pick<SignInRequest, 'server' | 'subject'>,
  options: CommonOptions,
): Promise<Result<SignOutReport, Refusal>> {
  return withShelf(options, ({ shelf, ...known }) => forget({ server, subject }, shelf, known));
}

interface Known {
  readonly servers: readonly ServerSpec[];
  readonly rules: ReachRules;
}

interface Standing extends Known {
  readonly shelf: CredentialShelf;
}

async function withShelf<T>(
  options: CommonOptions,
  work: (standing: Standing) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  const ground = await openGround({ ...options, isQuiet: true, transport: 'pipe' });
  if (!ground.ok) return ground;
  const known = await knownOf(options, ground.value);
  if (!known.ok) return known;
  const store = await openHomeStore(ground.value);
  if (!store.ok) return store;
  try {
    const learn = (secrets: readonly string[]): void => ground.value.secrets.add(secrets);
    const shelf = new CredentialShelf({ store: store.value, place: keyPlace(ground.value), learn });
    return await work({ shelf, ...known.value });
  } finally {
    await store.value.close();
  }
}

async function knownOf(options: CommonOptions, { around, secrets }: Ground): Promise<Result<Known, Refusal>> {
  const config = await loadConfig(locateConfig({ flag: options.config, ...around }).path, around);
  if (!config.ok) return config;
  secrets.add(config.value.servers.flatMap(secretsOfServer));
  const settings = resolveSettings({ env: around.env, file: config.value.settings, stored: new Map() });
  if (!settings.ok) return settings;
  return ok({ servers: config.value.servers, rules: reachIn(settings.value.settings) });
}

function serverIn(servers: readonly ServerSpec[], name: string): Result<ServerSpec, Refusal> {
  const spec = servers.find((one) => one.name === name);
  if (spec === undefined) return err({ code: 'SERVER_UNKNOWN', name, known: servers.map((one) => one.name) });
  if (spec.transport.kind === 'stdio')
    return err({
      code: 'ARGUMENTS_INVALID',
      reason: `server ${JSON.stringify(name)} is started by a command; only servers at a URL have people sign in`,
    });
  return hasOwnAuthorization(spec)
    ? err({
        code: 'ARGUMENTS_INVALID',
        reason: `the config entry of server ${JSON.stringify(name)} gives it an "Authorization" header, which counts; take it out to sign in`,
      })
    : ok(spec);
}
