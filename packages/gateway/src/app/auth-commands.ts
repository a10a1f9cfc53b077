import { EncryptedCredentials } from '../adapters/auth/encrypted-credentials.ts';
import { signIn } from '../adapters/auth/sign-in.ts';
import { forget, toShownCredentials } from '../adapters/auth/sign-out.ts';
import { VERSION } from '@assay-mcp/kit/version';
import { formatCause, type Cause } from '../core/cause.ts';
import { computeOwnClient, type OwnClient } from '../core/own-client.ts';
import type { ReachRules } from '../core/reach-rules.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../core/server-spec.ts';
import type { ShownCredential, SignInRequest, SignOutReport } from '../gateway/ports/credentials.ts';
import { openBrowser } from '@assay-mcp/kit/platform/browser';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import { withEnvironment } from './environment.ts';
import { createResolver } from './references.ts';
import type { AppOptions } from '../core/command-options.ts';
import { readConfig } from './plan.ts';
import { toReachRules } from './sources.ts';
import { hasOwnAuthorization, getSourceKind } from '../core/sources/source-kinds.ts';

// Kept apart from the other commands, which would load an HTTP client and server.

/** Signs the user at this terminal in at a server of the config. */
export function signInAt(
  request: SignInRequest,
  options: AppOptions,
): Promise<Result<ShownCredential, Refusal>> {
  return withCredentials(options, async ({ credentials, servers, rules, ownClient, resolve }) => {
    const spec = serverIn(servers, request.server);
    if (!spec.ok) return spec;
    const stopped = new AbortController();
    void waitForStop().then(() => stopped.abort());
    const deps = { credentials, openBrowser, version: VERSION, signal: stopped.signal, rules, ownClient };
    const resolved = await resolve(spec.value);
    if (!resolved.ok)
      return err({
        code: 'AUTHORIZATION_FAILED',
        server: spec.value.name,
        reason: formatCause(resolved.error),
      });
    const done = await signIn(resolved.value, request, deps);
    if (!done.ok) return done;
    const shown = toShownCredentials(await credentials.all(), servers);
    if (!shown.ok) return shown;
    const { server, subject, issuer } = done.value;
    const own = shown.value.find(
      (one) => one.server === server && one.subject === subject && one.issuer === issuer,
    );
    return own === undefined ? err({ code: 'AUTHORIZATION_UNKNOWN', server, subject }) : ok(own);
  });
}

/** Lists all sign-ins of this home, without secrets. */
export function listSignIns(options: AppOptions): Promise<Result<readonly ShownCredential[], Refusal>> {
  return withCredentials(options, async ({ credentials, servers }) =>
    toShownCredentials(await credentials.all(), servers),
  );
}

/** Deletes a subject's credentials for a server, at any URL, and revokes them at the issuer if it supports that. */
export function signOutAt(
  { server, subject }: Pick<SignInRequest, 'server' | 'subject'>,
  options: AppOptions,
): Promise<Result<SignOutReport, Refusal>> {
  return withCredentials(options, async ({ credentials, servers, rules, resolve }) => {
    const resolved = await Promise.all(
      servers.map(async (spec) => {
        const found = spec.name === server ? await resolve(spec) : ok(spec);
        return found.ok ? found.value : spec;
      }),
    );
    return forget({ server, subject }, credentials, { servers: resolved, rules });
  });
}

interface Known {
  readonly servers: readonly ServerSpec[];
  readonly rules: ReachRules;
  readonly ownClient: OwnClient | undefined;
}

interface OpenCredentials extends Known {
  readonly credentials: EncryptedCredentials;
  /** Reads the values that the proxy of an entry refers to: requests to issuers go through it, too. */
  readonly resolve: (spec: ServerSpec) => Promise<Result<ServerSpec, Cause>>;
}

function withCredentials<T>(
  options: AppOptions,
  work: (context: OpenCredentials) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  return withEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (environment) => {
    const configured = await readConfig(environment);
    if (!configured.ok) return configured;
    const { absence, config, settings } = configured.value;
    if (absence !== undefined) return err(absence);
    const store = await environment.store.open();
    if (!store.ok) return store;
    const learn = (secrets: readonly string[]): void => environment.secrets.add(secrets);
    const credentials = new EncryptedCredentials({
      store: store.value,
      keys: environment.keys,
      learn,
    });
    const resolver = createResolver(environment);
    return work({
      credentials,
      servers: config.servers,
      rules: toReachRules(settings, environment.configEnvironment),
      ownClient: computeOwnClient(settings['auth.publicUrl']),
      resolve: (spec) => {
        const references = spec.references?.filter(({ member }) => member === 'proxy');
        return resolver.resolve({ ...spec, references });
      },
    });
  });
}

function serverIn(servers: readonly ServerSpec[], name: string): Result<ServerSpec, Refusal> {
  const spec = servers.find((one) => one.name === name);
  if (spec === undefined) return err({ code: 'SERVER_UNKNOWN', name, known: servers.map((one) => one.name) });
  if (getSourceKind(spec.transport).signIn(spec.transport) === undefined)
    return err({
      code: 'ARGUMENTS_INVALID',
      reason: `server ${JSON.stringify(name)} is not an MCP server at a URL; only those need a sign-in`,
    });
  if (getSourceKind(spec.transport).signIn(spec.transport)?.auth?.grant === 'client_credentials')
    return err({
      code: 'ARGUMENTS_INVALID',
      reason: `server ${JSON.stringify(name)} uses client credentials and needs no sign-in; if it is down, run \`assay doctor\``,
    });
  return hasOwnAuthorization(spec)
    ? err({
        code: 'ARGUMENTS_INVALID',
        reason: `the config entry of server ${JSON.stringify(name)} has an "Authorization" header, which takes precedence; remove it to sign in`,
      })
    : ok(spec);
}
