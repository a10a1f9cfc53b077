import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/paths.ts';

/** Events that carry what a peer sends. */
const LISTENER =
  /\.(?:on|once|prependListener)\(\s*'(data|message|connection|connect|request|drain)',\s*([\w#.]+)/g;

/** Files that run in a process or thread of their own, or talk to the terminal. */
const OWN_PROCESS = [
  ...['src/functions/', 'src/edges/cli/'],
  ...['src/adapters/sources/http/filter-worker.ts', 'src/adapters/sources/openapi/document-worker.ts'],
  'src/verify/state/comparison-worker.ts',
];
const OWN_SIDE: readonly string[] = [
  // Scripts that run in a sandbox or a thread.
  'src/sandbox/gated.ts',
  'src/sandbox/network-sink.ts connection',
  'src/codebase/chunks/chunk-worker.ts message',
  'src/platform/thread.ts message',
  // Call `guarded` with a peer for each connection.
  'src/sandbox/network-gate.ts connect',
  'src/sandbox/network-gate.ts connection',
  'src/edges/mcp/connections.ts connection',
  'src/edges/mcp/connections.ts request',
  'src/platform/child.ts data',
];

it('every listener on what a peer sends is guarded', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true });
  const unguarded = files
    .filter((file) => file.isFile() && file.name.endsWith('.ts'))
    .map((file) => join(file.parentPath, file.name))
    .flatMap((path) => {
      const name = relative(ROOT, path);
      if (OWN_PROCESS.some((start) => name.startsWith(start))) return [];
      const found = [...readFileSync(path, 'utf8').matchAll(LISTENER)];
      return found.flatMap(([, event, callback]) =>
        callback === 'guardCallback' ? [] : [`${name} ${event}`],
      );
    });
  expect([...new Set(unguarded)].filter((one) => !OWN_SIDE.includes(one))).toEqual([]);
});
