import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientProvider as FirstProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { UnauthorizedError as FirstUnauthorized } from '@modelcontextprotocol/sdk/client/auth.js';
import { browse } from './browser.ts';
import type { Negotiation } from './clients.ts';
import { endLater } from './endings.ts';

/** An official client that was given only an address, after a simulated user has signed in. */
export interface SignedIn {
  readonly label: string;
  /** The address that it sent the browser to. */
  readonly authorization: URL;
  readonly accessToken: string;
  call(name: string): Promise<unknown>;
}

/** The sign-in state that a client stores; the same for both major versions of the SDK. */
class SignInStorage {
  readonly redirectUrl = 'http://127.0.0.1:9/callback';
  readonly clientMetadata = {
    client_name: 'official',
    application_type: 'native',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  authorization: URL | undefined;
  #information: unknown;
  #tokens: { readonly access_token: string } | undefined;
  #verifier = '';

  get accessToken(): string {
    return this.#tokens?.access_token ?? '';
  }
  clientInformation(): never {
    return this.#information as never;
  }
  saveClientInformation(information: unknown): void {
    this.#information = information;
  }
  tokens(): never {
    return this.#tokens as never;
  }
  saveTokens(tokens: { readonly access_token: string }): void {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.authorization = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
}

interface Connection {
  connect(): Promise<void>;
  finish(query: URLSearchParams): Promise<void>;
  call(name: string): Promise<unknown>;
}

/** Connects as a user's client does: is rejected, sends the user to a browser, and connects again. */
async function signInBy(label: string, open: (storage: SignInStorage) => Connection): Promise<SignedIn> {
  const storage = new SignInStorage();
  const first = open(storage);
  const refusal = await first.connect().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refusal instanceof UnauthorizedError || refusal instanceof FirstUnauthorized))
    throw new Error(`${label} was not sent away`, { cause: refusal });
  const { authorization } = storage;
  if (authorization === undefined) throw new Error(`${label} found no authorization server`);
  await first.finish(new URL(await browse(authorization.href, 'ada')).searchParams);
  const second = open(storage);
  await second.connect();
  return { label, authorization, accessToken: storage.accessToken, call: (name) => second.call(name) };
}

function openSecond(url: string, mode: Negotiation, storage: SignInStorage): Connection {
  const client = new Client(
    { name: 'official', version: '2' },
    { versionNegotiation: { mode: mode === 'modern' ? { pin: '2026-07-28' } : mode } },
  );
  endLater(() => client.close());
  const authProvider: OAuthClientProvider = storage;
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  return {
    connect: () => client.connect(transport),
    finish: (query) => transport.finishAuth(query),
    call: (name) => client.callTool({ name, arguments: {} }),
  };
}

function openFirst(url: string, storage: SignInStorage): Connection {
  const client = new FirstClient({ name: 'official', version: '1' });
  endLater(() => client.close());
  const authProvider: FirstProvider = storage;
  const transport = new FirstHttp(new URL(url), { authProvider });
  return {
    connect: () => client.connect(transport),
    finish: (query) => transport.finishAuth(query.get('code') ?? ''),
    call: (name) => client.callTool({ name, arguments: {} }),
  };
}

/** The ways in which official clients sign in. */
export const SIGNING_IN: readonly {
  readonly label: string;
  readonly signIn: (url: string) => Promise<SignedIn>;
}[] = [
  { label: '1.x', signIn: (url) => signInBy('1.x', (storage) => openFirst(url, storage)) },
  ...(['legacy', 'modern', 'auto'] as const).map((mode) => ({
    label: `2.x ${mode}`,
    signIn: (url: string) => signInBy(`2.x ${mode}`, (storage) => openSecond(url, mode, storage)),
  })),
];
