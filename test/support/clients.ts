import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { cleanEnv } from './assay.ts';
import { endLater } from './endings.ts';
import type { JsonObject } from './json.ts';
import { StdioGatewayTransport, type StdioGatewayOptions } from './stdio-gateway.ts';

/** How the official client 2.x determines the era. */
export type Negotiation = 'legacy' | 'modern' | 'auto';

/** What all official clients can do, in one interface for the tests. */
export interface Official {
  readonly label: string;
  tools(): Promise<readonly string[]>;
  call(name: string, args?: JsonObject, onProgress?: (progress: number) => void): Promise<string>;
  close(): Promise<void>;
}

export type Endpoint =
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly command: readonly string[]; readonly env?: Readonly<Record<string, string>> }
  /** `assay stdio` in this process. */
  | { readonly stdio: StdioGatewayOptions };

/** The official client 2.x, connected. */
export async function connectClient(
  endpoint: Endpoint,
  mode: Negotiation,
  options: ConstructorParameters<typeof Client>[1] = {},
  before: (client: Client) => void = () => undefined,
): Promise<Client> {
  const client = new Client(
    { name: 'official', version: '2' },
    { ...options, versionNegotiation: { mode: mode === 'modern' ? { pin: '2026-07-28' } : mode } },
  );
  endLater(() => client.close());
  before(client);
  const transport =
    'url' in endpoint
      ? new StreamableHTTPClientTransport(new URL(endpoint.url), {
          requestInit: { headers: { ...endpoint.headers } },
        })
      : 'stdio' in endpoint
        ? new StdioGatewayTransport(endpoint.stdio)
        : new StdioClientTransport(commandOf(endpoint));
  await client.connect(inTurns(transport));
  return client;
}

/** The official client 1.x, connected. */
export async function connectFirst(
  endpoint: Endpoint,
  options: ConstructorParameters<typeof FirstClient>[1] = {},
  before: (client: FirstClient) => void = () => undefined,
): Promise<FirstClient> {
  const client = new FirstClient({ name: 'official', version: '1' }, options);
  endLater(() => client.close());
  before(client);
  const transport =
    'url' in endpoint
      ? new FirstHttp(new URL(endpoint.url), { requestInit: { headers: { ...endpoint.headers } } })
      : 'stdio' in endpoint
        ? new StdioGatewayTransport(endpoint.stdio)
        : new FirstStdio(commandOf(endpoint));
  await client.connect(inTurns(transport));
  return client;
}

type Take = (...received: readonly unknown[]) => void;

/**
 * Delivers each message in its own turn. The clients drop a call's progress listener as soon as they have the result,
 * and lose progress read in the same turn, which depends on how busy the machine is.
 */
export function inTurns<T extends object>(transport: T): T {
  let take: Take | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const later: Take = (...received) => {
    last = last.then(() => nextTurn()).then(() => take?.(...received));
  };
  return Object.defineProperty(transport, 'onmessage', {
    get: () => take && later,
    set: (given: Take | undefined) => (take = given),
  });
}

/** The four official client variants: 1.x, and 2.x with each negotiation. */
export const OFFICIAL: readonly {
  readonly label: string;
  readonly connect: (endpoint: Endpoint) => Promise<Official>;
}[] = [
  { label: '1.x', connect: async (endpoint) => officialFirst(await connectFirst(endpoint)) },
  ...(['legacy', 'modern', 'auto'] as const).map((mode) => ({
    label: `2.x ${mode}`,
    connect: async (endpoint: Endpoint) => official(`2.x ${mode}`, await connectClient(endpoint, mode)),
  })),
];

function official(label: string, client: Client): Official {
  return {
    label,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args = {}, onProgress) =>
      textIn(
        await client.callTool(
          { name, arguments: args },
          onProgress === undefined
            ? {}
            : {
                onprogress: (one) => {
                  onProgress(one.progress);
                },
              },
        ),
      ),
    close: () => client.close(),
  };
}

function officialFirst(client: FirstClient): Official {
  return {
    label: '1.x',
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args = {}, onProgress) =>
      textIn(
        await client.callTool(
          { name, arguments: args },
          undefined,
          onProgress === undefined
            ? {}
            : {
                onprogress: (one) => {
                  onProgress(one.progress);
                },
              },
        ),
      ),
    close: () => client.close(),
  };
}

export function textIn(result: unknown): string {
  const content = (result as { readonly content?: readonly { readonly text?: unknown }[] }).content;
  const text = content?.[0]?.text;
  if (typeof text !== 'string') throw new Error(`No text in ${JSON.stringify(result)}`);
  return text;
}

function commandOf(endpoint: Extract<Endpoint, { command: unknown }>): {
  command: string;
  args: string[];
  env: Record<string, string>;
  stderr: 'ignore';
} {
  const [command = process.execPath, ...args] = endpoint.command;
  const env = Object.entries(cleanEnv(endpoint.env)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { command, args, env: Object.fromEntries(env), stderr: 'ignore' };
}
