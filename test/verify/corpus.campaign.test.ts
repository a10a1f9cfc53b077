import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sandboxes } from '../../src/adapters/sandbox/open-sandbox.ts';
import { contradictionsOf } from '../../src/core/verification/report.ts';
import { openVerifier } from '../../src/verify/program.ts';
import { IS_LONG } from '../support/campaign.ts';
import { ROOT } from '../support/place.ts';
import { CORPUS } from './corpus.ts';

const TOOLS = CORPUS.filter(({ isShort }) => IS_LONG || isShort === true);

it('finds every lie of the corpus, and none in honest tools', async () => {
  const verified = await openVerifier(sandboxes()).verify({
    command: [process.execPath, join(import.meta.dirname, 'corpus-server.ts'), '{seed}'],
    cwd: ROOT,
    env: {},
    ownEnv: process.env,
    fixtures: undefined,
    baseline: undefined,
    tools: TOOLS.map(({ name }) => name),
    limits: { timeMs: 500_000, callMs: 30_000, sets: 3, repeats: 5 },
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  if (!verified.ok) throw new Error(JSON.stringify(verified.error));
  const found = contradictionsOf(verified.value).map(({ tool, hint }) => `${tool.name} ${hint}`);
  const truth = TOOLS.flatMap(({ name, lies }) => lies.map((hint) => `${name} ${hint}`));
  expect(found.toSorted()).toEqual(truth.toSorted());
  // Otherwise a tool that cannot be called would pass for honest.
  expect(verified.value.tools.filter(({ coverage }) => coverage.successfulCalls === 0)).toEqual([]);
});
