// A stdio server (2025-11-25) that adds one tool each second and notifies its client.
import { createInterface } from 'node:readline';

const GROW_MS = 1_000;

const names: string[] = [];

const ANSWERS: Readonly<Record<string, () => object>> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'growing', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  ping: () => ({}),
};

createInterface(process.stdin)
  .on('line', (line) => {
    const { id, method = '' } = JSON.parse(line) as { id?: unknown; method?: string };
    if (method === 'notifications/initialized') setInterval(grow, GROW_MS);
    if (id === undefined) return;
    const result = ANSWERS[method]?.();
    say(result === undefined ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result });
  })
  .on('close', () => process.exit(0));

function grow(): void {
  names.push(`grown_${String(names.length + 1)}`);
  say({ method: 'notifications/tools/list_changed' });
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
