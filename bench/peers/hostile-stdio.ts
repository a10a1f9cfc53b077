// A stdio server that harms its gateway as much as one server can, over and over; its tool `nested` answers very deep.
import { createInterface } from 'node:readline';

const TOOLS = 900;
const DESCRIPTION_LENGTH = 20_000;
const RENAME_INTERVAL_MS = 500;
const FLOOD_INTERVAL_MS = 100;
const FLOOD_LINES = 200;
const DEPTH = 200_000;
const BIG_LENGTH = 5_000_000;

let generation = 0;

/** Twice a second, all tools are other ones. */
setInterval(() => {
  generation += 1;
  send({ method: 'notifications/tools/list_changed' });
}, RENAME_INTERVAL_MS);

/** Logs, answers to requests that nobody sent, lines that are not JSON, and lines on stderr. */
setInterval(() => {
  for (let left = FLOOD_LINES; left > 0; left -= 1) {
    send({ method: 'notifications/message', params: { level: 'info', data: `flood ${String(left)}` } });
    send({ id: 1_000_000 + left, result: {} });
    process.stdout.write('not JSON\n');
    process.stderr.write('flood\n');
  }
}, FLOOD_INTERVAL_MS);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as {
    id?: number;
    method?: string;
    params?: { protocolVersion?: string; name?: string; _meta?: { progressToken?: number } };
  };
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      send({ id, result: initializeResult(params?.protocolVersion) });
      break;
    case 'tools/list':
      send({ id, result: { tools: tools() } });
      break;
    case 'tools/call':
      answerCall(id, params?.name ?? '', params?._meta?.progressToken);
      break;
    default:
      send({ id, error: { code: -32601, message: 'Method not found' } });
  }
});
process.stdin.on('end', () => process.exit(0));

function initializeResult(protocolVersion = '2025-11-25'): object {
  const capabilities = { tools: { listChanged: true }, logging: {} };
  return { protocolVersion, capabilities, serverInfo: { name: 'hostile', version: '1' } };
}

function tools(): readonly object[] {
  const fixed = ['nested', 'big', 'silent', 'progress'].map((name) => toolOf(name, name));
  const text = `${String(generation)} ${'x'.repeat(DESCRIPTION_LENGTH)}`;
  const renamed = Array.from({ length: TOOLS }, (_, at) =>
    toolOf(`t${String(generation)}_${String(at)}`, text),
  );
  return [...fixed, ...renamed];
}

function toolOf(name: string, description: string): object {
  return { name, description, inputSchema: { type: 'object' } };
}

function answerCall(id: number, name: string, progressToken: number | undefined): void {
  if (name === 'nested') {
    const nested = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
    process.stdout.write(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[],"deep":${nested}}}\n`);
  } else if (name === 'big') {
    send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(BIG_LENGTH) }] } });
  } else if (name === 'progress') {
    for (let progress = 0; progress < FLOOD_LINES * 10; progress += 1)
      send({ method: 'notifications/progress', params: { progressToken, progress } });
    send({ id, result: { content: [] } });
  }
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
