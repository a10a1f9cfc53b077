// Limits of a verification, and tools that are never called. Nothing is observed here, so the server needs no sandbox.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startConfined, startFetcher } from '@assay-mcp/sandbox/start-confined';
import { ok } from '@assay-mcp/kit/result';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import type { OpenSandbox } from '@assay-mcp/sandbox/observation';
import type { VerifyProgress } from '@assay-mcp/kit/verification/verifier';
import { openVerifier, type VerifyLimits } from '../src/verifier.ts';
import { until } from '../../../test/support/endings.ts';
import { ROOT, tempDir } from '../../../test/support/paths.ts';
import { observation } from './observations.ts';

const unsandboxed: OpenSandbox = () =>
  Promise.resolve(
    ok({
      mechanisms: [],
      missing: [],
      launch: (options) => PLAIN_LAUNCHER.launch(options),
      observe: () => Promise.resolve(observation()),
      finish: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }),
  );

const HOUR_MS = 3_600_000;

/** Verifies a server with the tools `answers`, `hangs` and `list_never`, the last of which must not be called. */
function start(limits: Partial<VerifyLimits>, tools: readonly string[] = []) {
  const cwd = tempDir();
  const fixtures = join(cwd, 'fixtures.json');
  writeFileSync(fixtures, JSON.stringify({ tools: { list_never: { skip: 'sends mail' } } }));
  const command = [process.execPath, join(ROOT, 'test', 'fixtures', 'hanging.ts')];
  const progress: VerifyProgress[] = [];
  const stopping = new AbortController();
  const verified = openVerifier({ openSandbox: unsandboxed, startConfined, startFetcher }).verify({
    ...{ command, cwd, env: {}, ownEnv: process.env, fixtures, tools },
    baseline: undefined,
    recorded: new Map(),
    limits: { timeMs: HOUR_MS, callMs: HOUR_MS, sets: 1, repeats: 2, ...limits },
    signal: stopping.signal,
    onProgress: (one) => progress.push(one),
  });
  return { verified, progress, stopping, wasCalled: (tool: string) => existsSync(join(cwd, tool)) };
}

async function reasons({ verified }: Pick<ReturnType<typeof start>, 'verified'>): Promise<unknown> {
  const report = await verified;
  if (!report.ok) throw new Error(JSON.stringify(report.error));
  return Object.fromEntries(
    report.value.tools.map(({ name, verdicts: { readOnlyHint: verdict } }) => [
      name,
      'reason' in verdict ? verdict.reason : verdict.kind,
    ]),
  );
}

describe.concurrent('a verification', () => {
  it('ends only a call that takes too long, skips a tool that must not be called, and reports progress', async () => {
    const run = start({ callMs: 3_000 });
    expect(await reasons(run)).toEqual({
      answers: 'mechanism_missing',
      hangs: 'no_successful_call',
      list_never: 'skipped',
    });
    expect(run.wasCalled('answers') && run.wasCalled('hangs')).toBe(true);
    expect(run.wasCalled('list_never')).toBe(false);
    expect(run.progress.map(({ done, total }) => `${done}/${total}`)).toEqual(['1/3', '2/3', '3/3']);
    expect(run.progress.map(({ tool }) => tool).toSorted()).toEqual(['answers', 'hangs', 'list_never']);
  });

  it('stops at the time limit of the whole run, without a verdict on tools that were not called', async () => {
    const run = start({ timeMs: 1 }, ['answers', 'hangs']);
    expect(await reasons(run)).toEqual({ answers: 'time_limit', hangs: 'time_limit' });
    expect(run.wasCalled('answers')).toBe(false);
  });

  it('ends during a call if it is cancelled', async () => {
    const run = start({}, ['hangs']);
    await until('it hangs', () => run.wasCalled('hangs') || undefined);
    run.stopping.abort();
    expect(await reasons(run)).toEqual({ hangs: 'time_limit' });
  });
});
