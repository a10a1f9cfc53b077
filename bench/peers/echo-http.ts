// A lean MCP server over Streamable HTTP: node echo-http.ts [--tools 10] [--keep-alive-ms 120000]
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { type Answer, echoServer } from './echo-answers.ts';
import { listen } from './listen.ts';

const { values } = parseArgs({
  options: {
    tools: { type: 'string', default: '10' },
    'keep-alive-ms': { type: 'string', default: '120000' },
  },
});
const answer = echoServer(Number(values.tools));

listen((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    return;
  }
  collect(request, (body) => {
    reply(response, answer(body));
  });
}, Number(values['keep-alive-ms']));

function collect(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  });
}

function reply(response: ServerResponse, said: Answer | undefined): void {
  if (said === undefined) {
    response.writeHead(202).end();
    return;
  }
  const headers: Record<string, string | number> = {
    'content-type': 'application/json',
    'content-length': said.bytes.length,
  };
  if (said.opensSession) headers['mcp-session-id'] = randomUUID();
  response.writeHead(said.isUnknownMethod ? 404 : 200, headers).end(said.bytes);
}
