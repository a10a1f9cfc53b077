import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Entry, Person } from './person.ts';

const SLOW = { timeout: 120_000 };

export interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a client receives. */
export interface Seen {
  readonly tools: readonly string[];
  /** The text of the result of the call. */
  readonly text: string;
}

interface Visit {
  readonly call?: Call;
  /** Runs before the client disconnects. */
  readonly meanwhile?: () => Promise<void>;
}

/** Connects through an entry of a client's file as that client would, lists all tools and calls one. */
export async function throughEntry(
  { command = '', args = [], env, url }: Entry,
  { home, env: own }: Person,
  { call, meanwhile }: Visit = {},
): Promise<Seen> {
  const client = new Client({ name: 'cursor-vscode', version: '1.0.0' });
  const stdio = { command, args: [...args], cwd: home, stderr: 'ignore' as const };
  const variables = Object.fromEntries(
    Object.entries({ ...own, ...env }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  const transport =
    url === undefined
      ? new StdioClientTransport({ ...stdio, env: variables })
      : (new LegacyHttpTransport(new URL(url)) as unknown as StdioClientTransport);
  await client.connect(transport, SLOW);
  try {
    const seen = await seenBy(client, call);
    await meanwhile?.();
    return seen;
  } finally {
    await client.close();
  }
}

/** Lists all tools of an endpoint and calls one with the newest revision. */
export async function overHttp(url: string, { call, meanwhile }: Visit = {}): Promise<Seen> {
  const client = new ModernClient(
    { name: 'tuesday', version: '2.0.0' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    const { tools } = await client.listTools();
    const result = call && (await client.callTool({ name: call.name, arguments: { ...call.arguments } }));
    await meanwhile?.();
    return { tools: tools.map(({ name }) => name), text: textOf(result?.content) };
  } finally {
    await client.close();
  }
}

async function seenBy(client: Client, call: Call | undefined): Promise<Seen> {
  const { tools } = await client.listTools(undefined, SLOW);
  const result = call && (await client.callTool({ ...call }, undefined, SLOW));
  return { tools: tools.map(({ name }) => name), text: textOf(result?.content) };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .map((block: { readonly text?: unknown }) => (typeof block.text === 'string' ? block.text : ''))
    .join('\n');
}
