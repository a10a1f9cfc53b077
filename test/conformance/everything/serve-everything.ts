import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
  type NodeIncomingMessageLike,
} from '@modelcontextprotocol/node';
import { classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server';
import { everything } from './everything.ts';
import { Sessions } from './sessions.ts';
import { SharedLists } from './shared-lists.ts';

const ERA_CHOICES = ['both', 'legacy', 'modern'] as const;
export type EraChoice = (typeof ERA_CHOICES)[number];

export function isEraChoice(text: string): text is EraChoice {
  return (ERA_CHOICES as readonly string[]).includes(text);
}

export interface EverythingServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the eras that are chosen, both on one endpoint; port 0 is any that is free. */
export async function serveEverything({
  era,
  port,
}: {
  readonly era: EraChoice;
  readonly port: number;
}): Promise<EverythingServer> {
  const lists = new SharedLists();
  const sessions = new Sessions(lists);
  const modern = createMcpHandler(() => everything(lists).server, { legacy: 'reject' });
  lists.listen((kind) => {
    if (kind === 'tool') modern.notify.toolsChanged();
    else modern.notify.promptsChanged();
  });
  const handleModern = toNodeHandler(modern);
  const isFromHere = [localhostHostValidation(), localhostOriginValidation()];
  const server = createServer((request, response) => {
    if (!isFromHere.every((check) => check(request, response))) return;
    void bodyOf(request).then((body) =>
      isFor(era, request, body) === 'legacy'
        ? sessions.handle(request, response, body)
        : handleModern(request as NodeIncomingMessageLike, response, body),
    );
  });
  await listen(server, port);
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp`,
    close: async () => {
      await Promise.all([sessions.close(), modern.close()]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isFor(era: EraChoice, { method, headers }: IncomingMessage, body: unknown): 'legacy' | 'modern' {
  if (era !== 'both') return era;
  const route = classifyInboundRequest({
    httpMethod: method ?? 'GET',
    ...headerOf('protocolVersionHeader', headers['mcp-protocol-version']),
    ...headerOf('mcpMethodHeader', headers['mcp-method']),
    ...headerOf('mcpNameHeader', headers['mcp-name']),
    body,
  });
  return route.kind === 'legacy' ? 'legacy' : 'modern';
}

function headerOf<K extends string>(
  key: K,
  value: string | string[] | undefined,
): Partial<Record<K, string>> {
  return typeof value === 'string' ? ({ [key]: value } as Partial<Record<K, string>>) : {};
}

/** Undefined if there is none, or it is not JSON. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}
