import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listContradictions } from '@assay-mcp/kit/verification/report';
import { openVerifier } from '../src/verifier.ts';
import { IS_LONG } from '../../../test/support/campaign.ts';
import { ROOT } from '../../../test/support/paths.ts';
import { CORPUS, PYTHON_CORPUS, type CorpusTool } from './corpus.ts';

const PYTHON = '/usr/bin/python3';

it('verification finds every broken hint of the corpus, and none in honest tools', async () => {
  const tools = CORPUS.filter(({ isShort }) => IS_LONG || isShort === true);
  const server = join(import.meta.dirname, 'corpus-server.ts');
  expect(await contradictions([process.execPath, server, '{seed}'], tools)).toEqual(liesOf(tools));
});

it.runIf(IS_LONG && existsSync(PYTHON))(
  'verification finds every broken hint of a server in Python',
  async () => {
    const defined = PYTHON_CORPUS.map(({ name, hints }) => ({
      name,
      inputSchema: { type: 'object' },
      annotations: hints,
    }));
    const server = join(import.meta.dirname, 'corpus_server.py');
    const command = [PYTHON, server, '{seed}', JSON.stringify(defined)];
    expect(await contradictions(command, PYTHON_CORPUS)).toEqual(liesOf(PYTHON_CORPUS));
  },
);

/** `tool hint` for each contradicted hint. */
async function contradictions(
  command: readonly string[],
  tools: readonly CorpusTool[],
): Promise<readonly string[]> {
  const verified = await openVerifier().verify({
    command,
    cwd: ROOT,
    env: {},
    ownEnv: process.env,
    fixtures: undefined,
    baseline: undefined,
    tools: tools.map(({ name }) => name),
    limits: { timeMs: 500_000, callMs: 30_000, sets: 3, repeats: 5 },
    recorded: new Map(),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  if (!verified.ok) throw new Error(JSON.stringify(verified.error));
  // Otherwise a tool that cannot be called would pass as honest.
  expect(verified.value.tools.filter(({ coverage }) => coverage.successfulCalls === 0)).toEqual([]);
  return listContradictions(verified.value)
    .map(({ tool, hint }) => `${tool.name} ${hint}`)
    .toSorted();
}

function liesOf(tools: readonly CorpusTool[]): readonly string[] {
  return tools.flatMap(({ name, lies }) => lies.map((hint) => `${name} ${hint}`)).toSorted();
}
