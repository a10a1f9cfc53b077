// A proxy written with the official SDK alone. node sdk-proxy.ts URL
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { listen } from './listen.ts';

const INFO = { name: 'sdk-proxy', version: '1.0.0' };
const AnyResult = z.looseObject({});

const client = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2] ?? '')));

const handler = createMcpHandler(() => {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  server.fallbackRequestHandler = ({ method, params }) =>
    client.request({ method, params: withoutEnvelope(params) }, AnyResult);
  return server;
});
const serve = toNodeHandler(handler);

listen((request, response) => {
  // Its parameter is Node's own message type, but not declared for exact optional properties.
  serve(request as Parameters<typeof serve>[0], response).catch(() => {
    response.destroy();
  });
});

// The client adds the envelope for its own hop.
function withoutEnvelope(params: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const { _meta, ...rest } = params ?? {};
  return rest;
}
