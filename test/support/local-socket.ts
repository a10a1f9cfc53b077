import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, parseJson, type Json } from './json.ts';

export interface SocketAnswer {
  readonly status: number;
  readonly text: string;
}

/** The socket that the gateway of this home announces. */
export function socketOf(home: string): string {
  return String(at(parseJson(readFileSync(join(home, 'serve.json'), 'utf8')), 'socket'));
}

/** One request to a Unix socket; rejects if nobody listens. */
export function sendTo(
  socketPath: string,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: Json } = {},
): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const asked = request({
      ...{ socketPath, path, method, agent: false },
      headers: { host: 'localhost', ...(text && { 'content-type': 'application/json' }), ...headers },
    });
    asked.once('error', reject);
    asked.once('response', (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: answer }));
    });
    asked.end(text);
  });
}
