// Clients of the official SDKs as a host program uses them: started once, streams left to the SDK, questions answered.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { setTimeout as sleep } from 'node:timers/promises';

/** The default of the SDKs. PostgreSQL is away for 30 s, and an answer may have to wait for it. */
const CALL_TIMEOUT_MS = 60_000;
const LISTEN_AGAIN_MS = 500;

export const CLIENT_KINDS = ['1.x', '2.x legacy', '2.x modern', '2.x auto'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export interface SdkClient {
  /** The text of the result; rejects with the SDK's error. */
  readonly call: (tool: string, input: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly list: () => Promise<readonly string[]>;
  /** How often it heard that the list of tools changed. */
  readonly changes: () => number;
  readonly close: () => Promise<void>;
}

interface Endpoint {
  readonly url: string;
  readonly token: string;
  /** Receives what the SDK reports beside calls, such as streams that broke. */
  readonly onError: (error: Error) => void;
}

export async function connectSdkClient(kind: ClientKind, endpoint: Endpoint): Promise<SdkClient> {
  return await (kind === '1.x' ? connectFirst(endpoint) : connectSecond(kind, endpoint));
}

async function connectFirst({ url, token, onError }: Endpoint): Promise<SdkClient> {
  const client = new FirstClient({ name: 'soak', version: '1' }, { capabilities: { elicitation: {} } });
  client.onerror = onError;
  let changes = 0;
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answerTo(params.message));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  const headers = { authorization: `Bearer ${token}` };
  const transport = new FirstTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport, { timeout: CALL_TIMEOUT_MS }).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  return {
    call: async (name, input) =>
      textIn(await client.callTool({ name, arguments: input }, undefined, { timeout: CALL_TIMEOUT_MS })),
    list: async () =>
      (await client.listTools({}, { timeout: CALL_TIMEOUT_MS })).tools.map(({ name }) => name),
    changes: () => changes,
    close: () => client.close(),
  };
}

async function connectSecond(
  kind: Exclude<ClientKind, '1.x'>,
  { url, token, onError }: Endpoint,
): Promise<SdkClient> {
  const mode = kind === '2.x modern' ? { pin: '2026-07-28' } : kind === '2.x auto' ? 'auto' : 'legacy';
  const client = new Client(
    { name: 'soak', version: '2' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  );
  client.onerror = onError;
  let changes = 0;
  client.setRequestHandler('elicitation/create', ({ params }) => answerTo(params.message));
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport, { timeout: CALL_TIMEOUT_MS }).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  const closing = new AbortController();
  if (kind !== '2.x legacy') void keepListening(client, closing.signal);
  return {
    call: async (name, input) =>
      textIn(await client.callTool({ name, arguments: input }, { timeout: CALL_TIMEOUT_MS })),
    list: async () =>
      (await client.listTools({}, { timeout: CALL_TIMEOUT_MS, cacheMode: 'refresh' })).tools.map(
        ({ name }) => name,
      ),
    changes: () => changes,
    close: async () => {
      closing.abort();
      await client.close();
    },
  };
}

/** SDK 2.x leaves it to the host program to open a subscription again. */
async function keepListening(client: Client, closed: AbortSignal): Promise<void> {
  while (!closed.aborted) {
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { signal: closed });
      await subscription.closed;
    } catch {
      // Tried again below.
    }
    await sleep(LISTEN_AGAIN_MS, undefined, { signal: closed }).catch(() => undefined);
  }
}

function answerTo(message: string): { action: 'accept'; content: { answer: string } } {
  return { action: 'accept', content: { answer: message } };
}

function textIn(result: unknown): string {
  const { content, isError } = result as {
    readonly content?: readonly { readonly text?: unknown }[];
    readonly isError?: boolean;
  };
  const text = content?.[0]?.text;
  return typeof text === 'string' && isError !== true ? text : `not a result: ${JSON.stringify(result)}`;
}
