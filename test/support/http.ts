import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { endLater, sleep } from './endings.ts';
import { parseJson, type Json } from './json.ts';
import { scaledMs } from './slow-machine.ts';

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Ask {
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly type: string;
  json(): Json;
}

/** One HTTP exchange on its own connection; no redirects, decoding or retries. */
export function send(url: string, ask: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = open(url, ask);
    asked.on('error', reject);
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve(answerOf(response, Buffer.concat(chunks).toString('utf8')));
      });
    });
    asked.end(ask.body);
  });
}

/** One event of a stream; `comment` holds the lines that start with a colon. */
export interface StreamEvent {
  readonly data: string;
  readonly id: string | undefined;
  readonly retry: string | undefined;
  readonly comment: string;
}

export interface Stream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** All events so far. */
  readonly events: readonly StreamEvent[];
  /** The messages among the events, parsed. */
  messages(): readonly Json[];
  /** Waits for a matching message; earlier ones count too. */
  next(what: string, fits: (message: Json) => boolean, limitMs?: number): Promise<Json>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  /** Cuts the connection. */
  cut(): void;
}

/** Sends a request and resolves once the response headers arrive; the body is read event by event. */
export function openStream(url: string, ask: Ask): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asked = open(url, ask);
    asked.on('error', reject);
    asked.on('response', (response) => {
      resolve(streamOf(asked, response));
    });
    endLater(() => {
      asked.destroy();
      return Promise.resolve();
    });
    asked.end(ask.body);
  });
}

/** Starts a request without waiting for the answer; returns a function that cuts it. */
export function startRequest(url: string, ask: Ask): { cut(): void } {
  const asked = open(url, ask);
  asked.on('error', () => undefined);
  asked.on('response', (response) => response.on('error', () => undefined).resume());
  asked.end(ask.body);
  return {
    cut: () => {
      asked.destroy();
    },
  };
}

/** Sends exact bytes, part by part, and returns what was received until the socket closed or `limitMs` passed. */
export function sendBytes(
  port: number,
  parts: readonly (string | Buffer)[],
  options: { readonly pauseMs?: number; readonly limitMs?: number; readonly halfClose?: boolean } = {},
): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    const timer = setTimeout(finish, options.limitMs ?? 3_000);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', finish);
    socket.on('error', finish);
    socket.on('connect', () => {
      void (async () => {
        for (const part of parts) {
          if (socket.destroyed) return;
          socket.write(part);
          if (options.pauseMs !== undefined) await sleep(options.pauseMs);
        }
        if (options.halfClose === true) socket.end();
      })();
    });
  });
}

function open(url: string, ask: Ask): ClientRequest {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(ask.headers ?? {})) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  if (ask.body !== undefined) headers['content-length'] ??= String(Buffer.byteLength(ask.body));
  return request(url, { method: ask.method ?? 'POST', headers, agent: false });
}

function answerOf(response: IncomingMessage, text: string): Answer {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    type: (response.headers['content-type'] ?? '').split(';')[0] ?? '',
    text,
    json: () => parseJson(text),
  };
}

function streamOf(asked: ClientRequest, response: IncomingMessage): Stream {
  const events: StreamEvent[] = [];
  const waiting = new Set<() => void>();
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    rest += text;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    events.push(...blocks.map(eventOf));
    for (const wake of [...waiting]) wake();
  });
  const ended = new Promise<void>((resolve) => {
    response.on('error', () => undefined);
    response.on('close', () => {
      resolve();
      for (const wake of [...waiting]) wake();
    });
  });
  const messages = (): readonly Json[] =>
    events.filter((event) => event.data !== '').map((event) => parseJson(event.data));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    messages,
    ended,
    next: (what, fits, limitMs = 20_000) =>
      new Promise((resolve, reject) => {
        const waitsMs = scaledMs(limitMs);
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        const timer = setTimeout(() => {
          done();
          reject(
            new Error(`Not on the stream within ${waitsMs} ms: ${what}; it had ${JSON.stringify(events)}`),
          );
        }, waitsMs);
        const look = (): void => {
          const found = messages().find(fits);
          if (found === undefined) return;
          done();
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    cut: () => {
      asked.destroy();
    },
  };
}

/** The messages of a stream that has ended. */
export function messagesIn(text: string): readonly Json[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((block) => eventOf(block).data)
    .filter((data) => data !== '')
    .map(parseJson);
}

function eventOf(block: string): StreamEvent {
  const lines = block.split(/\r?\n/);
  const field = (name: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  return {
    data: field('data').join('\n'),
    id: field('id')[0],
    retry: field('retry')[0],
    comment: lines.filter((line) => line.startsWith(':')).join('\n'),
  };
}
