// What each value of a hint claims, as a check that fails if the tool behaves otherwise.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { Hint } from '@assay-mcp/kit/hint';
import { at, type Json, type JsonObject } from '../../../test/support/json.ts';
import { tempDir } from '../../../test/support/paths.ts';

export type ToolName =
  'index_repository' | 'search_code' | 'set_working_directory' | 'find_symbol' | 'outline';

/** A connected client, and the home directory of its server. */
export interface Peer {
  readonly client: Client;
  readonly home: string;
}

export interface Answer {
  readonly isError: boolean;
  readonly structured: Json;
  readonly text: string;
}

export async function call({ client }: Peer, name: string, args: JsonObject): Promise<Answer> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const [first] = content;
  return {
    isError: isError === true,
    structured: (structuredContent ?? null) as Json,
    text: first?.type === 'text' ? first.text : '',
  };
}

/** A new repository, indexed into a new project. */
export interface Scene {
  readonly repo: string;
  readonly project: string;
}

export const SOURCES: Readonly<Record<string, string>> = {
  'refunds.ts': 'export function bookRefund(amount: number): number {\n  return -amount;\n}\n',
  'src/orders.py': 'def cancel_order(order):\n    """Cancels an order."""\n    order.open = False\n',
  'notes.txt': 'The quick brown fox.\n',
};

export function newRepository(): string {
  const repo = tempDir();
  for (const [path, text] of Object.entries(SOURCES)) writeIn(repo, path, text);
  return repo;
}

export function writeIn(folder: string, path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
}

export async function indexedScene(peer: Peer): Promise<Scene> {
  const scene = { repo: newRepository(), project: `p-${randomUUID().slice(0, 8)}` };
  expect(await index(peer, scene)).toMatchObject({ status: 'success', files_indexed: 3 });
  return scene;
}

export async function index(peer: Peer, { repo, project }: Scene, more: JsonObject = {}): Promise<Json> {
  const answer = await call(peer, 'index_repository', { repo_path: repo, project_id: project, ...more });
  return answer.structured;
}

/** The names and hashes of all files below a folder. */
export function snapshot(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(
    files.toSorted().map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

/** Everything a call could change: every index, the repository, and the session. */
async function stateOf(peer: Peer, { repo }: Scene): Promise<Json> {
  const session = await call(peer, 'index_status', {});
  return {
    indexes: snapshot(join(peer.home, 'codebase')),
    repository: snapshot(repo),
    project: session.isError ? session.text : (at(session.structured, 'project_id') as Json),
  };
}

/** Calls of every kind: valid ones first, then ones that are refused. */
function callsOf(tool: ToolName, { repo, project }: Scene): readonly JsonObject[] {
  if (tool === 'index_repository')
    return [
      { repo_path: repo, project_id: `${project}-new` },
      { repo_path: repo, project_id: project, force_reindex: true },
      { repo_path: 'relative', project_id: project },
      { repo_path: repo, project_id: '../x' },
    ];
  if (tool === 'set_working_directory')
    return [{ directory: configured(repo) }, { directory: '/nowhere' }, { directory: 'relative' }, {}];
  if (tool === 'find_symbol') {
    const good = { symbol: 'bookRefund', project_id: project };
    return [
      good,
      { ...good, symbol: 'orders.cancel_order', directory: 'src', limit: 50 },
      { ...good, symbol: 'noSuchSymbol' },
      { ...good, symbol: '" OR 1=1; DROP TABLE files; --' },
      { ...good, repository_id: randomUUID() },
      { ...good, project_id: `${project}-unknown` },
      { ...good, limit: 0 },
      {},
    ];
  }
  if (tool === 'outline') {
    const good = { file_path: 'refunds.ts', project_id: project };
    return [
      good,
      { ...good, file_path: join(repo, 'src/orders.py'), symbol: 'cancel_order', limit: 500 },
      { ...good, file_path: 'notes.txt' },
      { ...good, file_path: 'no/such/file.ts' },
      { ...good, file_path: '/etc/passwd' },
      { ...good, repository_id: randomUUID() },
      { ...good, project_id: `${project}-unknown` },
      {},
    ];
  }
  const good = { query: 'bookRefund', project_id: project };
  return [
    good,
    { ...good, query: 'where are orders cancelled', file_type: 'py', directory: 'src', limit: 50 },
    { ...good, exact: true },
    { ...good, query: 'book(Refund|Order)', regex: true },
    { ...good, query: '(', regex: true },
    { ...good, query: 'no-such-word-anywhere' },
    { ...good, query: '" OR 1=1; DROP TABLE files; --' },
    { ...good, repository_id: randomUUID() },
    { ...good, project_id: `${project}-unknown` },
    { ...good, limit: 0 },
    { query: 'bookRefund' },
    {},
  ];
}

/** Creates a subfolder with a config file, whose project is unique to the scene. */
function configured(repo: string): string {
  const id = `c-${createHash('sha256').update(repo).digest('hex').slice(0, 8)}`;
  writeIn(
    repo,
    'inner/.codebase-mcp/config.json',
    JSON.stringify({ version: '1.0', project: { name: 'c', id } }),
  );
  return join(repo, 'inner');
}

/** The call to repeat. */
function mainCall(tool: ToolName, scene: Scene): JsonObject {
  const [first = {}] = callsOf(tool, scene);
  return first;
}

type Check = (peer: Peer, tool: ToolName) => Promise<void>;

async function changesNothing(peer: Peer, tool: ToolName): Promise<void> {
  const scene = await indexedScene(peer);
  const calls = callsOf(tool, scene);
  const before = await stateOf(peer, scene);
  for (const args of calls) {
    await call(peer, tool, args);
    expect(await stateOf(peer, scene), JSON.stringify(args)).toEqual(before);
  }
}

async function changesSomething(peer: Peer, tool: ToolName): Promise<void> {
  const scene = await indexedScene(peer);
  const calls = callsOf(tool, scene);
  const before = await stateOf(peer, scene);
  for (const args of calls) await call(peer, tool, args);
  expect(await stateOf(peer, scene)).not.toEqual(before);
}

/** What the calls changed or removed: files of the repositories, another index, and a search result. */
async function lostBy(peer: Peer, tool: ToolName): Promise<readonly string[]> {
  const [scene, other] = [await indexedScene(peer), await indexedScene(peer)];
  const calls = callsOf(tool, scene);
  const kept = (): Readonly<Record<string, string>> => ({
    ...snapshot(scene.repo),
    ...snapshot(other.repo),
    ...snapshot(join(peer.home, 'codebase', other.project)),
  });
  const findable = async (): Promise<boolean> => {
    const args = { query: 'bookRefund', project_id: scene.project };
    return (await call(peer, 'search_code', args)).text.includes('refunds.ts');
  };
  const before = kept();
  for (const args of calls) await call(peer, tool, args);
  const after = kept();
  const changed = Object.keys(before).filter((path) => after[path] !== before[path]);
  return (await findable()) ? changed : [...changed, 'a result'];
}

async function losesNothing(peer: Peer, tool: ToolName): Promise<void> {
  expect(await lostBy(peer, tool)).toEqual([]);
}

async function losesSomething(peer: Peer, tool: ToolName): Promise<void> {
  expect(await lostBy(peer, tool)).not.toEqual([]);
}

/** The effects and reports of five sequential calls, and then two concurrent ones. */
async function repeated(peer: Peer, tool: ToolName): Promise<readonly Json[]> {
  const scene = await indexedScene(peer);
  const args = mainCall(tool, scene);
  const seen: Json[] = [];
  const record = async (answer: Answer): Promise<void> => {
    seen.push({ answer: untimed(answer.structured), state: await stateOf(peer, scene) });
  };
  for (let round = 0; round < 5; round += 1) await record(await call(peer, tool, args));
  const concurrent = await Promise.all([call(peer, tool, args), call(peer, tool, args)]);
  for (const answer of concurrent) await record(answer);
  return seen;
}

/** Without durations. */
function untimed(structured: Json): Json {
  const { latency_ms: _, duration_seconds: __, ...rest } = structured as JsonObject;
  return rest;
}

async function repeatsWithoutEffect(peer: Peer, tool: ToolName): Promise<void> {
  const [first, ...others] = await repeated(peer, tool);
  for (const other of others) expect(other).toEqual(first);
}

async function repeatsWithEffect(peer: Peer, tool: ToolName): Promise<void> {
  const [first, second] = await repeated(peer, tool);
  expect(second).not.toEqual(first);
}

/** Whether the result of a call changes after others have edited files. */
async function dependsOnOthers(peer: Peer, tool: ToolName): Promise<boolean> {
  const scene = await indexedScene(peer);
  const args =
    tool === 'index_repository'
      ? { repo_path: scene.repo, project_id: scene.project }
      : mainCall(tool, scene);
  await call(peer, tool, args);
  const before = await call(peer, tool, args);
  writeIn(scene.repo, 'refunds.ts', `// Edited elsewhere.\n${SOURCES['refunds.ts'] ?? ''}`);
  const config = { version: '1.0', project: { name: 'edited elsewhere', id: 'elsewhere' } };
  writeIn(scene.repo, 'inner/.codebase-mcp/config.json', JSON.stringify(config));
  // Other processes can update an index, too.
  if (tool === 'search_code') await index(peer, scene);
  const after = await call(peer, tool, args);
  return JSON.stringify(untimed(after.structured)) !== JSON.stringify(untimed(before.structured));
}

async function expectOpenWorld(peer: Peer, tool: ToolName): Promise<void> {
  expect(await dependsOnOthers(peer, tool)).toBe(true);
}

async function expectClosedWorld(peer: Peer, tool: ToolName): Promise<void> {
  expect(await dependsOnOthers(peer, tool)).toBe(false);
}

const CHECKS: Readonly<Record<Hint, Readonly<Record<'true' | 'false', Check>>>> = {
  readOnlyHint: { true: changesNothing, false: changesSomething },
  destructiveHint: { true: losesSomething, false: losesNothing },
  idempotentHint: { true: repeatsWithoutEffect, false: repeatsWithEffect },
  openWorldHint: { true: expectOpenWorld, false: expectClosedWorld },
};

/** Fails unless the tool behaves as this value of the hint claims. */
export async function checkHint(peer: Peer, tool: ToolName, claim: readonly [Hint, boolean]): Promise<void> {
  const [hint, value] = claim;
  await CHECKS[hint][value ? 'true' : 'false'](peer, tool);
}
