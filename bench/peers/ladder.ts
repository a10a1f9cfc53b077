// A plain reverse proxy that adds Assay's steps one by one, to see what each costs. node ladder.ts STEP URL
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { sendJson } from '../../packages/gateway/src/edges/mcp/http-answer.ts';
import { HttpClient, type ResponseHeaders } from '@assay-mcp/kit/platform/http-client';
import { readClientMessage, readServerMessage, type RequestMessage } from '@assay-mcp/protocol/message';
import { readJsonString } from '@assay-mcp/protocol/spans';
import { findNameMember, translateReply, translateRequest } from '@assay-mcp/protocol/translate';
import { endToEnd } from './end-to-end.ts';
import { LADDER } from './ladder-steps.ts';
import { listen } from './listen.ts';

const [, , step = '', target = ''] = process.argv;
const height = LADDER.findIndex(({ name }) => name === step);
const does = (name: string): boolean => LADDER.findIndex((one) => one.name === name) <= height;
const [scans, resolves, edits, ownHeaders, ownClient] = [
  does('scan'),
  does('resolve'),
  does('edit'),
  does('own-headers'),
  does('own-client'),
];

const upstream = new URL(target);
const pool = new Pool(upstream.origin, { headersTimeout: 0, bodyTimeout: 0 });
const client = new HttpClient(upstream.origin, { reaches: new Set(['loopback']), chosenBy: 'config' });
/** As many as the echo server has, so that a lookup costs the same. */
const tools = new Map(
  ['echo', ...Array.from({ length: 9 }, (_, index) => `tool_${String(index)}`)].map((name) => [
    name,
    { name },
  ]),
);
let lastId = 0;

listen((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [only] = chunks;
    void relay(request, chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks), response);
  });
});

async function relay(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const message = scans ? readClientMessage(body) : undefined;
  const asked = message?.kind === 'request' ? message : undefined;
  const name =
    resolves && asked !== undefined ? readJsonString(asked.bytes, findNameMember(asked)) : undefined;
  const tool = name === undefined ? undefined : tools.get(name);
  const id = (lastId += 1);
  const change = { era: 'modern', name: tool?.name, clientInfo: '{}' } as const;
  const target = { id, to: 'modern', ownInfo: '{}' } as const;
  const sent = edits && asked !== undefined ? translateRequest(asked, change, target) : [body];
  const headers = ownHeaders ? ownOf(request.headers) : endToEnd(request.headers);
  const answer = await (ownClient ? throughClient : throughPool)(request.url ?? '/', headers, sent);
  if (answer === undefined) {
    response.writeHead(502).end();
    return;
  }
  const pieces = edits && asked !== undefined ? edited(answer.body, asked) : [answer.body];
  if (!edits && scans) readServerMessage(answer.body);
  if (ownHeaders) sendJson(response, answer.status, { headers: {}, pieces });
  else {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    response.writeHead(answer.status, { ...endToEnd(answer.headers), 'content-length': length });
    for (const piece of pieces) response.write(piece);
    response.end();
  }
}

function edited(body: Buffer, asked: RequestMessage): readonly Buffer[] {
  const reply = readServerMessage(body);
  if (reply.kind !== 'response') return [body];
  return translateReply(reply, { idText: asked.idText, method: asked.method, from: 'modern', to: 'modern' });
}

/** The headers that a server needs, whatever else the client sent. */
function ownOf(given: IncomingHttpHeaders): Record<string, string | string[]> {
  const own: Record<string, string | string[]> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  for (const name of ['mcp-protocol-version', 'mcp-method', 'mcp-name']) {
    const value = given[name];
    if (value !== undefined) own[name] = value;
  }
  return own;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Headers = Record<string, string | string[]>;

async function throughPool(
  path: string,
  headers: Headers,
  body: readonly Buffer[],
): Promise<Answered | undefined> {
  const whole = Buffer.concat(body);
  const options: Dispatcher.RequestOptions = { path, method: 'POST', headers, body: whole };
  const answer = await pool.request({ ...options, headers: without(headers, 'content-length') });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  return { status: answer.statusCode, headers: answer.headers, body: bytes };
}

function without(headers: Headers, name: string): Headers {
  const { [name]: _, ...rest } = headers;
  return rest;
}

function throughClient(
  path: string,
  headers: Headers,
  body: readonly Buffer[],
): Promise<Answered | undefined> {
  return new Promise((resolve) => {
    let status = 0;
    let given: ResponseHeaders = {};
    const chunks: Buffer[] = [];
    client.call(
      {
        method: 'POST',
        path,
        headers: Object.entries(without(headers, 'content-length')).flatMap(([name, value]) => [
          name,
          String(value),
        ]),
        body,
      },
      {
        start: (code, received) => {
          status = code;
          given = received;
        },
        data: (chunk) => chunks.push(chunk),
        end: () => {
          const [only] = chunks;
          const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
          resolve({ status, headers: given, body: whole });
        },
        error: () => resolve(undefined),
      },
    );
  });
}
