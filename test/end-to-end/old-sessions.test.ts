// Servers that answer an old session with HTTP 400 and a sentence, instead of HTTP 404.
import { beforeAll, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { bodyOf, serveWeb } from '../support/web-server.ts';
import { incomingOf, toolOf, type Incoming } from '../fixtures/peer.ts';

const SENTENCE = 'Bad Request: No valid session ID provided';

/** The answers to a request of an unknown session, as servers and their frameworks give them. */
const ANSWERS = {
  unread: () => errorOf('null', SENTENCE),
  own: (incoming: Incoming) => errorOf(JSON.stringify(incoming.id), 'Session not found'),
  python: () => errorOf('"server-error"', SENTENCE),
  text: () => SENTENCE,
  // About something else, so the session goes on.
  other: () => errorOf('null', 'Bad Request: unexpected header'),
} as const;

type Kind = keyof typeof ANSWERS;

function errorOf(id: string, message: string): string {
  return `{"jsonrpc":"2.0","error":{"code":-32000,"message":"${message}"},"id":${id}}`;
}

interface Peer {
  readonly url: string;
  /** From now on the present sessions are unknown. */
  forget(): void;
  sessions: number;
  ran: number;
}

async function startPeer(kind: Kind): Promise<Peer> {
  const known = new Set<string>();
  const port = await serveWeb((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const incoming = incomingOf(body);
      const isOpening = incoming.method === 'initialize';
      if (incoming.method === 'server/discover')
        return void response.writeHead(400).end(errorOf('null', 'Bad Request: send initialize first'));
      if (!isOpening && !known.has(String(request.headers['mcp-session-id'])))
        return void response
          .writeHead(400, { 'content-type': kind === 'text' ? 'text/plain' : 'application/json' })
          .end(ANSWERS[kind](incoming));
      if (incoming.id === undefined) return void response.writeHead(202).end();
      if (isOpening) known.add(`s${(peer.sessions += 1)}`);
      if (incoming.method === 'tools/call') peer.ran += 1;
      response
        .writeHead(200, {
          'content-type': 'application/json',
          ...(isOpening && { 'mcp-session-id': `s${peer.sessions}` }),
        })
        .end(JSON.stringify({ jsonrpc: '2.0', id: incoming.id, result: resultOf(incoming) }));
    });
  });
  const peer: Peer = {
    url: `http://127.0.0.1:${port}/mcp`,
    forget: () => known.clear(),
    sessions: 0,
    ran: 0,
  };
  return peer;
}

function resultOf({ method }: Incoming): Json {
  const annotations = { readOnlyHint: true };
  if (method === 'tools/list') return { tools: [toolOf('add'), { ...toolOf('get'), annotations }] };
  if (method === 'tools/call') return { content: [{ type: 'text', text: 'done' }] };
  const serverInfo = { name: 'old', version: '1' };
  return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
}

const peers = new Map<Kind, Peer>();
let assay: Gateway;
let session: LegacySession;

beforeAll(async () => {
  for (const kind of Object.keys(ANSWERS) as Kind[]) peers.set(kind, await startPeer(kind));
  const servers = Object.fromEntries(
    [...peers].map(([kind, { url }]) => [kind, { type: 'http', url, trust: true }]),
  );
  assay = await startGateway({ servers });
  await assay.settled();
  session = await openSession(assay.url);
});

/** Calls a tool in a session that the server has forgotten. */
async function call(
  kind: Kind,
  tool: 'add' | 'get',
): Promise<{ answer: Json; isRenewed: boolean; ran: number }> {
  const peer = peers.get(kind);
  if (peer === undefined) throw new Error(kind);
  const once = (): Promise<Json> => session.ask('tools/call', { name: `${kind}_${tool}`, arguments: {} });
  await once();
  const { sessions, ran } = peer;
  peer.forget();
  const answer = await once();
  return { answer, isRenewed: peer.sessions > sessions, ran: peer.ran - ran };
}

it.each(['unread', 'own', 'python', 'text'] as const)(
  'after the answer "%s" a new session is opened, and a tool that only reads is called in it',
  async (kind) => {
    const { answer, isRenewed, ran } = await call(kind, 'get');
    expect([textOf(answer), isRenewed, ran]).toEqual(['done', true, 1]);
  },
);

it('an error without an id was given before the request was read, so any tool is called in the new session', async () => {
  const { answer, isRenewed, ran } = await call('unread', 'add');
  expect([textOf(answer), isRenewed, ran]).toEqual(['done', true, 1]);
});

it.each([
  ['own', 'Session not found'],
  ['python', SENTENCE],
  ['text', SENTENCE],
] as const)(
  'after the answer "%s" any other tool is not called, and the next call works',
  async (kind, said) => {
    const { answer, ran } = await call(kind, 'add');
    expect(ran).toBe(0);
    expect(at(answer, 'error')).toMatchObject({
      message: `Server "${kind}" refused the request: its session has expired (HTTP 400: "${said}"). Assay is opening a new session and has not sent the request again. The error indicates that it was not carried out, so you may repeat it.`,
      data: { code: 'SESSION_RENEWED', causeCode: 'SESSION_EXPIRED' },
    });
    const next = await session.ask('tools/call', { name: `${kind}_add`, arguments: {} });
    expect(textOf(next)).toBe('done');
  },
);

it('another HTTP 400 is the answer of the server, and its session goes on', async () => {
  const { answer, isRenewed, ran } = await call('other', 'get');
  expect([at(answer, 'error', 'message'), isRenewed, ran]).toEqual([
    'Bad Request: unexpected header',
    false,
    0,
  ]);
});
