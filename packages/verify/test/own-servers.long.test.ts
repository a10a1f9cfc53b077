// Assay's own servers, verified like any other.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { listContradictions } from '@assay-mcp/kit/verification/report';
import { openVerifier } from '../src/verifier.ts';
import { connectClient } from '../../../test/support/clients.ts';
import { runAssay } from '../../../test/support/commands.ts';
import { until } from '../../../test/support/endings.ts';
import { fixture, MAIN, ROOT, tempDir } from '../../../test/support/paths.ts';

interface Own {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tools: Readonly<Record<string, object>>;
}

const place = tempDir();

const CODE_SEARCH: Own = {
  // The index was made outside of the sandbox, where the repository has another path.
  args: ['codebase', '--home', '{seed}/home', '--root', '{seed}/repo', '--root', join(place, 'seed', 'repo')],
  env: {},
  tools: {
    index_repository: { repo_path: '{seed}/repo', project_id: 'p' },
    search_code: { query: 'bookRefund', project_id: 'p' },
    set_working_directory: { directory: '{seed}/repo' },
    index_status: {},
    find_symbol: { symbol: 'bookRefund', project_id: 'p' },
    outline: { file_path: 'refunds.ts', project_id: 'p' },
  },
};

const ECHO = { namespacedName: 'plain.echo' };

const CONFIGURATION: Own = {
  args: ['stdio', '--home', '{seed}/home', '--config', '{seed}/mcp.json'],
  env: {
    ASSAY_ENABLE_CONFIG_TOOLS_MENU: 'false',
    ASSAY_TOOLSETS_MODELS_MAY_CHANGE: 'all',
    // Recording calls writes to the store.
    ASSAY_ACTIVITY_CALLS: 'false',
  },
  tools: {
    'list-available-tools': {},
    'build-toolset': { name: 'new', tools: [ECHO] },
    'list-saved-toolsets': {},
    'equip-toolset': { name: 'other' },
    'delete-toolset': { name: 'other', confirm: true },
    'unequip-toolset': {},
    'get-active-toolset': {},
    'add-tool-annotation': { toolRef: ECHO, notes: [{ name: 'how-to', note: 'Say what.' }] },
  },
};

const SELECTION = 'which toolset is equipped is a selection, and no toolset is lost by another one';
const ACCEPTED = ['equip-toolset', 'unequip-toolset'].map((tool) => ({
  ...{ tool, hint: 'destructiveHint', reason: SELECTION },
}));

const [baseline, home] = [join(place, 'baseline.json'), join(place, 'seed', 'home')];

beforeAll(async () => {
  const seed = join(place, 'seed');
  mkdirSync(join(seed, 'repo'), { recursive: true });
  writeFileSync(join(seed, 'repo', 'refunds.ts'), 'export function bookRefund() {}\n');
  writeFileSync(join(seed, 'mcp.json'), JSON.stringify({ mcpServers: { plain: fixture('plain') } }));
  writeFileSync(baseline, JSON.stringify({ accepted: ACCEPTED }));
  const config = ['--config', join(seed, 'mcp.json')];
  for (const args of [
    ['codebase', 'index', join(seed, 'repo'), '--project', 'p'],
    ['toolset', 'create', 'equipped', 'plain.echo', ...config],
    ['toolset', 'create', 'other', 'plain.echo', ...config],
    ['toolset', 'equip', 'equipped'],
  ])
    expect(await runAssay([...args, '--home', home])).toMatchObject({ code: 0 });
  await startOnce();
});

/**
 * The first start accepts the definitions of the server, some time after it has listed tools. In a sandbox these writes
 * would be background changes, and changes of the same files by calls would not be observable.
 */
async function startOnce(): Promise<void> {
  const { args, env } = CONFIGURATION;
  const placed = args.map((arg) => arg.replace('{seed}', join(place, 'seed')));
  const client = await connectClient({ command: [process.execPath, MAIN, ...placed], env }, 'legacy');
  const records = join(home, 'records.json');
  await until(
    'definitions are accepted',
    () => readFileSync(records, 'utf8').includes('"accepted"') || undefined,
  );
  await client.close();
}

/** `tool.hint` for each contradicted hint that the baseline does not accept. */
async function contradictions(
  { args, env, tools }: Own,
  flips: readonly string[],
): Promise<readonly string[]> {
  const fixtures = join(place, 'fixtures.json');
  const calls = Object.entries(tools).map(([name, one]) => [name, { calls: [one] }]);
  writeFileSync(fixtures, JSON.stringify({ seed: './seed', tools: Object.fromEntries(calls) as object }));
  const flipping =
    flips.length === 0 ? [] : [process.execPath, join(import.meta.dirname, 'flip-hints.ts'), flips.join(',')];
  const touched = Object.keys(tools).filter(
    (tool) => flips.length === 0 || flips.some((flip) => flip.startsWith(`${tool}.`)),
  );
  const verified = await openVerifier().verify({
    command: [...flipping, process.execPath, MAIN, ...args],
    ...{ cwd: ROOT, env, ownEnv: process.env, fixtures, baseline, tools: touched },
    limits: { timeMs: 300_000, callMs: 30_000, sets: 1, repeats: 2 },
    recorded: new Map(),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  if (!verified.ok) throw new Error(JSON.stringify(verified.error));
  // Otherwise a tool that cannot be called would pass as honest.
  expect(verified.value.tools.filter(({ coverage }) => coverage.successfulCalls === 0)).toEqual([]);
  const found = listContradictions(verified.value).filter(({ accepted }) => accepted === undefined);
  const unexpected = found.filter(({ tool, hint }) => !flips.includes(`${tool.name}.${hint}`));
  if (unexpected.length > 0) console.error(JSON.stringify(unexpected.map(({ evidence }) => evidence)));
  const missing = flips.filter((flip) => !found.some(({ tool, hint }) => flip === `${tool.name}.${hint}`));
  // Such as a start that a busy machine makes so slow that its writes look like background changes.
  if (missing.length > 0)
    console.error(
      missing,
      JSON.stringify(verified.value.tools.map(({ name, verdicts }) => [name, verdicts])),
    );
  return found.map(({ tool, hint }) => `${tool.name}.${hint}`).toSorted();
}

describe.each([
  {
    name: 'code search',
    own: CODE_SEARCH,
    flips: ['index_repository.readOnlyHint'],
  },
  {
    name: 'the configuration tools',
    own: CONFIGURATION,
    flips: [
      'add-tool-annotation.readOnlyHint',
      'build-toolset.readOnlyHint',
      'delete-toolset.destructiveHint',
      'equip-toolset.readOnlyHint',
      'unequip-toolset.readOnlyHint',
    ],
  },
])('$name', ({ own, flips }) => {
  it('verifies without a contradiction', async () => {
    expect(await contradictions(own, [])).toEqual([]);
  });

  it('is contradicted in each hint that is flipped to a promise', async () => {
    expect(await contradictions(own, flips)).toEqual(flips);
  });
});
