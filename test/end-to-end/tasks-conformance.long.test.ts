import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startHttp, type HttpFixture } from '../fixtures/http.ts';
import { cleanEnv, watch, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater } from '../support/endings.ts';
import { ROOT, tempDir } from '../support/paths.ts';

const RUNNER = join(ROOT, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

/** The scenarios of the official suite for the extension, and how many checks each has. */
const SCENARIOS = [
  ['tasks-lifecycle', 9],
  ['tasks-capability-negotiation', 5],
  ['tasks-wire-fields', 4],
  ['tasks-request-state-removal', 3],
  ['tasks-mrtr-input', 4],
  ['tasks-request-headers', 5],
  ['tasks-dispatch-and-envelope', 9],
  ['tasks-required-task-error', 3],
  ['tasks-mrtr-composition', 2],
] as const;

async function run(scenario: string, url: string): Promise<string> {
  const args = [RUNNER, 'server', '--url', url, '--scenario', scenario];
  const child = spawn(process.execPath, args, { cwd: tempDir(), env: cleanEnv(), stdio: 'pipe' });
  const watched = watch(child);
  const code = await watched.ended;
  const passed = /Passed: [^\n]*/.exec(watched.stdout())?.[0];
  return code === 0 ? String(passed) : `${String(code)}\n${watched.stdout()}${watched.stderr()}`;
}

describe('the official conformance scenarios for tasks', () => {
  let server: HttpFixture;
  let assay: Gateway;
  beforeAll(async () => {
    server = await startHttp('tasks');
    endLater(() => server.close());
    assay = await startGateway({ servers: { t: { type: 'http', url: server.url, prefix: false } } });
    await assay.settled();
  });

  it.each(SCENARIOS)(
    '%s passes directly and through Assay',
    async (scenario, checks) => {
      const all = `Passed: ${checks}/${checks}, 0 failed, 0 warnings`;
      for (const url of [server.url, assay.url]) expect(await run(scenario, url)).toBe(all);
    },
    90_000,
  );
});
