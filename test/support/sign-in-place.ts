import type { TlsFiles } from '@assay-mcp/kit/tls-files';
import { parseBearerChallenge } from '@assay-mcp/protocol/challenge';
import type { CredentialContent } from '../../packages/gateway/src/adapters/auth/credential-content.ts';
import { EncryptedCredentials } from '../../packages/gateway/src/adapters/auth/encrypted-credentials.ts';
import { ServerCredentials } from '../../packages/gateway/src/adapters/auth/server-credentials.ts';
import { signIn } from '../../packages/gateway/src/adapters/auth/sign-in.ts';
import { createReachRules, type ReachRules } from '../../packages/gateway/src/core/reach-rules.ts';
import type { OwnClient } from '../../packages/gateway/src/core/own-client.ts';
import type { Refusal } from '../../packages/gateway/src/core/refusal.ts';
import type { AuthSpec, ServerSpec } from '../../packages/gateway/src/core/server-spec.ts';
import type {
  Authorizer,
  SignInRequest,
  SignInStep,
} from '../../packages/gateway/src/gateway/ports/credentials.ts';
import type { Store, StoredCredential } from '../../packages/gateway/src/gateway/ports/store.ts';
import { keysIn } from './encryption-keys.ts';
import { endLater } from './endings.ts';
import { startFakeIssuer, type FakeIssuer, type FakeIssuerOptions } from './fake-issuer.ts';
import { startGuarded, type GuardedOptions, type GuardedServer } from './guarded-server.ts';
import { send } from './http.ts';
import { tempDir } from './paths.ts';
import { openAt } from './stores.ts';

/** For a server and an issuer at two ports of this machine. */
export const RULES: ReachRules = createReachRules({
  isOnNetwork: false,
  allowLoopback: true,
  allowPrivate: false,
});
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A server that needs a sign-in, its issuer, and a home. */
export interface Place {
  readonly issuer: FakeIssuer;
  readonly server: GuardedServer;
  readonly spec: ServerSpec;
  readonly home: string;
  readonly store: Store;
  readonly credentials: EncryptedCredentials;
}

export interface Oddity {
  readonly issuer?: FakeIssuerOptions;
  readonly server?: Omit<GuardedOptions, 'issuer'>;
  readonly auth?: (issuer: FakeIssuer) => AuthSpec;
  readonly name?: string;
  readonly tls?: TlsFiles;
}

export async function start({
  issuer: issuing,
  server: serving,
  auth,
  name = 'g',
  tls,
}: Oddity): Promise<Place> {
  const issuer = await startFakeIssuer(issuing);
  const server = await startGuarded({ toolScopes: { write: 'w' }, ...serving, issuer });
  const home = tempDir();
  const store = await openAt({ home, databaseUrl: undefined });
  const spec: ServerSpec = {
    name,
    transport: {
      kind: 'http',
      flavour: 'auto',
      url: new URL(server.url),
      headers: {},
      ...(auth && { auth: auth(issuer) }),
      ...(tls && { tls }),
    },
    timeoutMs: 10_000,
    prefix: true,
    isolation: 'session',
    isFromConfig: true,
  };
  const credentials = openCredentials(store, home);
  return { issuer, server, spec, home, store, credentials };
}

function openCredentials(store: Store, home: string): EncryptedCredentials {
  return new EncryptedCredentials({ store, keys: keysIn(home), learn: () => undefined });
}

interface SignInChanges extends Partial<
  Pick<SignInRequest, 'acceptsPasted' | 'onAddress' | 'opensBrowser' | 'pasted'>
> {
  readonly ownClient?: OwnClient;
}

/** Follows the address as a browser does; returns the refusal of the sign-in, if there is one. */
export async function signInAt(
  { spec, credentials }: Place,
  onStep?: (step: SignInStep) => void,
  { ownClient, ...request }: SignInChanges = {},
): Promise<Refusal | undefined> {
  const done = await signIn(
    spec,
    {
      server: spec.name,
      subject: 'local',
      opensBrowser: true,
      onAddress: () => undefined,
      acceptsPasted: false,
      pasted: () => Promise.resolve(undefined),
      limitMs: 60_000,
      onStep,
      ...request,
    },
    {
      credentials,
      openBrowser: (address) => {
        void browse(address);
        return Promise.resolve(true);
      },
      version: '1',
      signal: new AbortController().signal,
      rules: RULES,
      ownClient,
    },
  );
  return done.ok ? undefined : done.error;
}

async function browse(address: string): Promise<void> {
  const { headers } = await send(address, { method: 'GET' });
  // Nothing listens at a public address.
  if (headers.location?.startsWith('http://') === true) await send(headers.location, { method: 'GET' });
}

/** The same place after its entry was changed. */
export function withAuth(place: Place, auth: AuthSpec): Place {
  const { transport } = place.spec;
  if (transport.kind !== 'http') throw new Error('not a server at a URL');
  return { ...place, spec: { ...place.spec, transport: { ...transport, auth } } };
}

/** A gateway's view of the sign-ins, on a connection of its own to the store. */
export async function openReplica(place: Place): Promise<Authorizer> {
  const authorizer = await (await openCredentialsOf(place)).authorizer(place.spec, 'local');
  if (authorizer === undefined) throw new Error('no authorizer');
  return authorizer;
}

export async function openCredentialsOf({ home }: Place): Promise<ServerCredentials> {
  const store = await openAt({ home, databaseUrl: undefined });
  const replica = new ServerCredentials({
    store: { isOpen: true, open: () => Promise.resolve({ ok: true, value: store }) },
    keys: keysIn(home),
    learn: () => undefined,
    isPersonal: false,
    log: SILENT,
    rules: RULES,
  });
  endLater(() => replica.close());
  return replica;
}

/** Calls a tool as a gateway does; returns the status, or the code of the refusal. */
export async function call(authorizer: Authorizer, { server }: Place, tool: string): Promise<string> {
  for (let tries = 0; tries < 3; tries += 1) {
    const sent = authorizer.header();
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(sent !== undefined && { authorization: sent }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool } }),
    });
    await answer.text();
    if (answer.status !== 401 && answer.status !== 403) return String(answer.status);
    const bearer = parseBearerChallenge(answer.headers.get('www-authenticate') ?? undefined);
    const decided = await authorizer.refused(
      {
        kind: answer.status === 401 ? 'invalid' : 'too_little',
        scope: bearer?.scope,
        resourceMetadata: bearer?.resourceMetadata,
      },
      sent,
    );
    if (!decided.ok) return decided.error.code;
  }
  return 'refused for ever';
}

export async function onlyCredential({ credentials }: Place): Promise<{
  readonly stored: StoredCredential;
  readonly content: CredentialContent;
}> {
  const all = await credentials.all();
  const [{ stored, content } = { stored: undefined, content: undefined }] = all.ok ? all.value : [];
  if (stored === undefined || content === undefined) throw new Error('no sign-in');
  return { stored, content };
}
