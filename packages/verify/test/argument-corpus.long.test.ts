// Hints that can only be judged with arguments that are found in lists, results, errors and schemas.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listContradictions } from '@assay-mcp/kit/verification/report';
import { openVerifier } from '../src/verifier.ts';
import { ROOT } from '../../../test/support/paths.ts';
import {
  type ArgumentTool,
  defineTools,
  NODE_TOOLS,
  PERL_TOOLS,
  PYTHON_TOOLS,
  SHELL_TOOLS,
} from './argument-corpus/tools.ts';

it.each<[string, string, readonly ArgumentTool[]]>([
  [process.execPath, 'server.mjs', NODE_TOOLS],
  ['/usr/bin/python3', 'server.py', PYTHON_TOOLS],
  ['/usr/bin/perl', 'server.pl', PERL_TOOLS],
  ['/bin/sh', 'server.sh', SHELL_TOOLS],
])('%s %s: every tool is called, every broken hint is found, and no other', async (program, file, tools) => {
  if (!existsSync(program)) return;
  const server = join(import.meta.dirname, 'argument-corpus', file);
  const verified = await openVerifier().verify({
    command: [program, server, '{seed}', defineTools(tools)],
    ...{ cwd: ROOT, env: {}, ownEnv: process.env, fixtures: undefined, baseline: undefined, tools: [] },
    limits: { timeMs: 500_000, callMs: 30_000, sets: 3, repeats: 5 },
    ...{ recorded: new Map(), signal: new AbortController().signal, onProgress: () => undefined },
  });
  if (!verified.ok) throw new Error(JSON.stringify(verified.error));
  const uncalled = verified.value.tools.filter(({ coverage }) => coverage.successfulCalls === 0);
  expect(uncalled.map(({ name, failure }) => `${name}: ${failure ?? ''}`)).toEqual([]);
  const found = listContradictions(verified.value).map(({ tool, hint }) => `${tool.name} ${hint}`);
  const lies = tools.flatMap(({ name, lies: broken }) => broken.map((hint) => `${name} ${hint}`));
  expect(found.toSorted()).toEqual(lies.toSorted());
});
