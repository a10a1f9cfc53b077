import { expect, it } from 'vitest';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { createUpstreamConnectors } from '../../../src/adapters/upstream/connect.ts';
import { createReachRules } from '../../../src/core/reach-rules.ts';
import type { ServerSpec } from '../../../src/core/server-spec.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import { killLater } from '../../../../../test/support/endings.ts';

const quiet = (): undefined => undefined;
const LOG: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

it('a refused handshake is reported while the process still takes its time to stop', async () => {
  // Neither the end of its input nor SIGTERM ends it.
  const script = `process.on('SIGTERM', () => {});
setInterval(() => {}, 1000);
let text = '';
process.stdin.on('data', (chunk) => {
  text += chunk;
  const lines = text.split('\\n');
  text = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    const error = { code: -32601, message: String(process.pid) };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error }));
  }
});`;
  const command = { command: process.execPath, args: ['-e', script], env: {}, cwd: '/' };
  const transport = { kind: 'stdio', ...command } as const;
  const spec: ServerSpec = {
    ...{ name: 'a', transport, timeoutMs: 1, prefix: true, isolation: 'shared', stopTimeoutMs: 60_000 },
  };
  const { stdio } = createUpstreamConnectors({
    log: LOG,
    recallEra: () => 'legacy',
    ownInfo: '{"name":"test","version":"1"}',
    rules: createReachRules({ isOnNetwork: false, allowLoopback: true, allowPrivate: true }),
    launcher: PLAIN_LAUNCHER,
    confine: () => Promise.reject(new Error('nothing is confined here')),
  });
  let ending: Promise<void> | undefined;
  const opened = await stdio(spec, transport, {
    events: { changed: quiet, updated: quiet, missed: quiet, drained: quiet, ended: quiet },
    signal: AbortSignal.timeout(50_000),
    client: undefined,
    onEnding: (ended) => {
      ending = ended;
    },
  });
  if (opened.ok || opened.error.code !== 'HANDSHAKE_REFUSED')
    throw new Error('the handshake must be refused');
  const pid = Number(opened.error.message);
  killLater(pid);
  expect(await Promise.race([ending, Promise.resolve('still ending')])).toBe('still ending');
  process.kill(pid, 'SIGKILL');
  await ending;
});
