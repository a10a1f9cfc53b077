import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endLater, sleep } from './endings.ts';
import { DELAY_MS, FaultSequence, nameIn, planOf } from './fault-plan.ts';

export interface FaultProxy {
  readonly url: string;
  /** Number of messages in a client's exchange. */
  countOf(mark: string): number;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  readonly target: string;
  /** Called when the server behind the proxy is to be killed for one client. */
  readonly onKill: (mark: string, sessions: readonly string[]) => void;
}

const SESSION = 'mcp-session-id';
/** How long in ms a request stays open if it or its response is lost. */
const HOLD_MS = 3_000;

/** A proxy between a client and a server over HTTP. The client's name determines what happens to its messages. */
export async function startFaultProxy({ target, onKill }: FaultProxyOptions): Promise<FaultProxy> {
  const outcomes = new Map<string, FaultSequence>();
  const marks = new Map<string, string>();
  const sockets = new Map<string, Set<ServerResponse>>();
  const outcomeOf = (mark: string): FaultSequence => {
    const faults = outcomes.get(mark) ?? new FaultSequence(planOf(mark));
    outcomes.set(mark, faults);
    return faults;
  };
  const kill = (mark: string): void => {
    onKill(
      mark,
      [...marks].filter(([, one]) => one === mark).map(([id]) => id),
    );
    for (const response of sockets.get(mark) ?? []) response.destroy();
  };
  const server = createServer((incoming, response) => {
    void bodyOf(incoming).then((body) => {
      const mark = nameIn(body) ?? marks.get(String(incoming.headers[SESSION])) ?? 'nobody';
      const open = sockets.get(mark) ?? new Set();
      sockets.set(mark, open.add(response));
      response.once('close', () => open.delete(response));
      const passage = {
        incoming,
        response,
        body,
        mark,
        target,
        faults: outcomeOf(mark),
        kill: () => kill(mark),
      };
      return pass(passage, (id) => marks.set(id, mark));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  endLater(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    countOf: (mark) => outcomes.get(mark)?.count ?? 0,
    close,
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

interface Passage {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  readonly mark: string;
  readonly target: string;
  readonly faults: FaultSequence;
  readonly kill: () => void;
}

type Named = (session: string) => void;

async function pass(passage: Passage, onSession: Named): Promise<void> {
  const { response, body, faults, kill } = passage;
  const fault = body === '' ? 'pass' : faults.next();
  if (fault === 'kill') kill();
  if (fault === 'cut' || fault === 'kill') response.destroy();
  else if (fault === 'lose') await holdBack(response);
  else {
    if (fault === 'delay') await sleep(DELAY_MS);
    // Only one response is passed on; that of the duplicate is discarded.
    if (fault === 'duplicate') forward(passage, (answer) => answer.on('error', () => undefined).resume());
    forward(passage, (answer) => {
      const session = answer.headers[SESSION];
      if (typeof session === 'string') onSession(session);
      void relay(passage, answer).catch(() => response.destroy());
    });
  }
}

async function holdBack(response: ServerResponse): Promise<void> {
  await Promise.race([sleep(HOLD_MS), new Promise((resolve) => response.once('close', resolve))]);
  response.destroy();
}

function forward(
  { incoming, response, body, target }: Passage,
  onAnswer: (answer: IncomingMessage) => void,
): void {
  const { host: _, connection: __, ...headers } = incoming.headers;
  const asked = request(target, { method: incoming.method ?? 'POST', headers, agent: false });
  asked.on('response', onAnswer);
  asked.on('error', () => response.destroy());
  response.once('close', () => asked.destroy());
  asked.end(body === '' ? undefined : body);
}

/** Each event is one message; any other body is a single message. */
async function relay(passage: Passage, answer: IncomingMessage): Promise<void> {
  const { response, faults, kill } = passage;
  const { 'content-length': _, connection: __, 'transfer-encoding': ___, ...headers } = answer.headers;
  const status = answer.statusCode ?? 200;
  if (String(headers['content-type']).startsWith('text/event-stream')) {
    response.writeHead(status, headers);
    response.flushHeaders();
    for await (const block of blocksOf(answer)) {
      const fault = block.includes('data: {') ? faults.next() : 'pass';
      if (fault === 'kill') kill();
      if (fault === 'cut' || fault === 'kill') throw new Error('cut');
      if (fault === 'delay') await sleep(DELAY_MS);
      if (fault !== 'lose') response.write(block);
      if (fault === 'duplicate') response.write(block);
    }
    response.end();
    return;
  }
  const body = await bodyOf(answer);
  const fault = body === '' ? 'pass' : faults.next();
  if (fault === 'kill') kill();
  if (fault === 'cut' || fault === 'kill') throw new Error('cut');
  if (fault === 'delay') await sleep(DELAY_MS);
  if (fault === 'lose') await holdBack(response);
  else response.writeHead(status, headers).end(body);
}

async function* blocksOf(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  answer.setEncoding('utf8');
  for await (const text of answer) {
    const blocks = (rest + String(text)).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield `${block}\n\n`;
  }
}
