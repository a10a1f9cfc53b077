import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listContradictions } from '@assay-mcp/kit/verification/report';
import { openVerifier } from '../src/verifier.ts';
import { IS_LONG } from '../../../test/support/campaign.ts';
import { ROOT } from '../../../test/support/paths.ts';
import type { CorpusTool } from './corpus.ts';
import { HELD_OUT_NODE, HELD_OUT_PYTHON, MEMORY_CORPUS, PYTHON_MEMORY_CORPUS } from './memory-corpus.ts';
import { BOARD, CONTACTS } from './memory-held-out/tools.ts';

const PYTHON = '/usr/bin/python3';
const NODE_SERVER = [process.execPath, join(import.meta.dirname, 'memory-server.ts')];
const PYTHON_SERVER = [PYTHON, join(import.meta.dirname, 'memory_server.py')];
const HELD_OUT = join(import.meta.dirname, 'memory-held-out');
const hasPython = existsSync(PYTHON);

it.each([
  ['Node', NODE_SERVER, MEMORY_CORPUS, true],
  ['Python', PYTHON_SERVER, PYTHON_MEMORY_CORPUS, IS_LONG && hasPython],
] as const)('verification finds the changes in the memory of a server in %s', async (...given) => {
  const [, command, tools, isRun] = given;
  if (isRun) expect(await contradicted(command, tools)).toEqual(liesOf(tools));
});

// Changes may be missed there: these servers were written before the code.
it.runIf(IS_LONG && hasPython).each([
  ['Node', NODE_SERVER, HELD_OUT_NODE],
  ['Python', PYTHON_SERVER, HELD_OUT_PYTHON],
  ['Node, an address book', [process.execPath, join(HELD_OUT, 'contacts-server.ts')], CONTACTS],
  ['Python, a board', [PYTHON, join(HELD_OUT, 'board_server.py')], BOARD],
] as const)('verification blames no honest tool of another server in %s', async (_, command, tools) => {
  const found = await contradicted(command, tools);
  expect(liesOf(tools)).toEqual(expect.arrayContaining([...found]));
  // Otherwise no tool may have been called at all.
  expect(found).not.toEqual([]);
});

async function contradicted(
  command: readonly string[],
  tools: readonly CorpusTool[],
): Promise<readonly string[]> {
  const verified = await openVerifier().verify({
    command: [...command, JSON.stringify(tools)],
    cwd: ROOT,
    ...{ env: {}, ownEnv: process.env, fixtures: undefined, baseline: undefined, tools: [] },
    limits: { timeMs: 500_000, callMs: 30_000, sets: 2, repeats: 2 },
    recorded: new Map(),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  if (!verified.ok) throw new Error(JSON.stringify(verified.error));
  return listContradictions(verified.value)
    .map(({ tool, hint }) => `${tool.name} ${hint}`)
    .toSorted();
}

function liesOf(tools: readonly CorpusTool[]): readonly string[] {
  return tools.flatMap(({ name, lies }) => lies.map((hint) => `${name} ${hint}`)).toSorted();
}
