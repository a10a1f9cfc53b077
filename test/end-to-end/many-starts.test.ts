import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { at, listAt } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';

/** Writes when it starts and when it answers its handshake. */
const SERVER = `const { appendFileSync } = require('node:fs');
const write = (event) => appendFileSync(process.env.STARTS, JSON.stringify({ event, atMs: Date.now() }) + '\\n');
write('start');
let text = '';
process.stdin.on('end', () => process.exit()).on('data', (chunk) => {
  text += chunk;
  const lines = text.split('\\n');
  text = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    if (id === undefined) continue;
    if (method === 'initialize') write('ready');
    const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' }, tools: [] };
    const error = { code: -32601, message: 'unknown' };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'server/discover' ? { error } : { result }) }));
  }
});`;

it('at most as many servers start at once as there are cores, and at least two', async () => {
  const starts = join(tempDir(), 'starts.log');
  const count = availableParallelism() + 4;
  const server = { command: process.execPath, args: ['-e', SERVER], env: { STARTS: starts } };
  const names = Array.from({ length: count }, (_, index) => `server${index}`);
  const assay = await startGateway({ servers: Object.fromEntries(names.map((name) => [name, server])) });
  await until('all are up', async () => {
    const servers = listAt(await assay.health(), 'servers');
    return servers.every((one) => at(one, 'state') === 'up') ? true : undefined;
  });
  let [starting, most] = [0, 0];
  for (const line of readFileSync(starts, 'utf8').trim().split('\n')) {
    starting += (JSON.parse(line) as { event: string }).event === 'start' ? 1 : -1;
    most = Math.max(most, starting);
  }
  expect(starting).toBe(0);
  expect(most).toBeLessThanOrEqual(Math.max(2, availableParallelism()));
});
