import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/paths.ts';

/** Events that carry what a peer sends. */
const LISTENER =
  /\.(?:on|once|prependListener)\(\s*'(data|message|connection|connect|request|drain)',\s*([\w#.]+)/g;

/** Files that run in a process or thread of their own, or talk to the terminal. */
const OWN_PROCESS = [
  ...['packages/functions/src/', 'packages/gateway/src/edges/cli/', 'packages/kit/src/platform/terminal/'],
  ...[
    'packages/gateway/src/adapters/sources/http/filter-worker.ts',
    'packages/gateway/src/adapters/sources/openapi/document-worker.ts',
  ],
  'packages/verify/src/state/comparison-worker.ts',
];
const OWN_SIDE: readonly string[] = [
  // Scripts that run in a sandbox or a thread.
  'packages/sandbox/src/gated.ts',
  'packages/sandbox/src/network-sink.ts connection',
  'packages/codebase/src/chunks/chunk-worker.ts message',
  'packages/kit/src/platform/thread.ts message',
  // Call `guarded` with a peer for each connection.
  'packages/sandbox/src/network-gate.ts connect',
  'packages/sandbox/src/network-gate.ts connection',
  'packages/gateway/src/edges/mcp/connections.ts connection',
  'packages/gateway/src/edges/mcp/connections.ts request',
  'packages/kit/src/platform/child.ts data',
];

it('every listener on what a peer sends is guarded', () => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT });
  const unguarded = files.flatMap((name) => {
    if (OWN_PROCESS.some((start) => name.startsWith(start))) return [];
    const found = [...readFileSync(join(ROOT, name), 'utf8').matchAll(LISTENER)];
    return found.flatMap(([, event, callback]) => (callback === 'guardCallback' ? [] : [`${name} ${event}`]));
  });
  expect([...new Set(unguarded)].filter((one) => !OWN_SIDE.includes(one))).toEqual([]);
});
