import type { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { until } from '../support/endings.ts';
import { openMany } from '../support/flood.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { modernBody, modernHeaders } from '../support/modern.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const MiB = 1024 * 1024;
const BODIES = 60;
const REFUSED = /^HTTP\/1\.1 503 [^]*\r\nretry-after: 5\r\n[^]*"code":"BODIES_FULL"/i;

interface Flooding {
  readonly socket: Socket;
  readonly text: () => string;
}

describe('with 60 unfinished bodies of one token', () => {
  let assay: Gateway;
  let tokens: { readonly greedy: string; readonly modest: string };

  beforeAll(async () => {
    const home = tempDir();
    tokens = {
      greedy: await keepToken(home, 'greedy', { scopes: ['mcp', 'read', 'admin'] }),
      modest: await keepToken(home, 'modest'),
    };
    assay = await startGateway({
      servers: { plain: fixture('plain') },
      settings: { settings: { 'mcp.access': 'token' } },
      limits: { bodiesBytes: 64 * MiB },
      home,
    });
  });

  const head = (path: string, headers: readonly string[]): string =>
    [
      `POST ${path} HTTP/1.1`,
      'host: 127.0.0.1',
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      `authorization: ${bearer(tokens.greedy).authorization}`,
      ...headers,
      '',
      '',
    ].join('\r\n');
  const piece = `${(MiB + 10).toString(16)}\r\n"${'x'.repeat(MiB + 8)}"\r\n`;

  /** Opens the bodies and waits until Assay has refused some of them. */
  async function flood(first: string): Promise<readonly Flooding[]> {
    const sockets = await openMany(assay.port, BODIES, first);
    const answers = sockets.map(readAll);
    await until('some are refused', () =>
      answers.some(({ text }) => REFUSED.test(text())) ? true : undefined,
    );
    return answers;
  }

  async function expectServed(): Promise<void> {
    const params = { name: 'plain_label', arguments: { text: 'x'.repeat(10 * MiB) } };
    const answer = await send(assay.url, {
      headers: { ...modernHeaders('tools/call', params), ...bearer(tokens.modest) },
      body: modernBody('tools/call', { params }),
    });
    expect([answer.status, at(answer.json(), 'result', 'content', 0, 'text')]).toEqual([200, 'plain']);
  }

  it.each([
    ['without a length', () => head('/mcp/all', ['transfer-encoding: chunked']) + piece],
    ['with a length of 60 MiB', () => head('/mcp/all', [`content-length: ${60 * MiB}`]) + '{'],
    ['for the REST API', () => head('/import', ['transfer-encoding: chunked']) + piece],
  ])('%s, some of them are refused and another token completes a call of 10 MiB', async (_, first) => {
    const answers = await flood(first());
    await expectServed();
    for (const { text } of answers) if (text() !== '') expect(text()).toMatch(REFUSED);
    for (const { socket } of answers) socket.destroy();
  });
});

function readAll(socket: Socket): Flooding {
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  socket.resume();
  return { socket, text: () => text };
}
