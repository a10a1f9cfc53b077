// Each hint of each tool, as a client reads it from `tools/list`, compared with the tool's behavior. The value of a
// hint selects the check, so a flipped hint fails. The servers do not watch: the checks edit files, and what is written
// then is no effect of a call. `watch.test.ts` shows that calls which read write nothing where a server watches.
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { HINTS, type Hint } from '@assay-mcp/kit/hint';
import { startAssay, type Assay } from '../../../test/support/assay.ts';
import { connectClient } from '../../../test/support/clients.ts';
import { kill, until } from '../../../test/support/endings.ts';
import { at, listAt, type JsonObject } from '../../../test/support/json.ts';
import { MAIN, tempDir } from '../../../test/support/paths.ts';
import { childrenOf, type ProcessLine } from '../../../test/support/processes.ts';
import { readGauge } from '../../../test/support/prometheus.ts';
import {
  type Answer,
  call,
  checkHint,
  index,
  indexedScene,
  type Peer,
  snapshot,
  type ToolName,
  writeIn,
} from './hint-checks.ts';

const TOOLS: readonly ToolName[] = [
  'index_repository',
  'search_code',
  'set_working_directory',
  'find_symbol',
  'outline',
];
const CLAIMS = TOOLS.flatMap((tool) => HINTS.map((hint): readonly [ToolName, Hint] => [tool, hint]));

const PROGRAM = [process.execPath, MAIN, 'codebase', '--no-watch', '--root', tmpdir()];
const HOME = tempDir();
mkdirSync(join(HOME, 'codebase'));

async function hintOf({ client }: Peer, tool: ToolName, hint: Hint): Promise<boolean> {
  const listed = (await client.listTools()).tools.find(({ name }) => name === tool);
  const value = listed?.annotations?.[hint];
  expect(value).toBeTypeOf('boolean');
  return value === true;
}

function overStdio(home = HOME): Promise<Client> {
  return connectClient({ command: [...PROGRAM, '--home', home] }, 'legacy');
}

describe('over stdio', () => {
  let peer: Peer;
  beforeAll(async () => {
    peer = { client: await overStdio(), home: HOME };
  });

  it.each(CLAIMS)('%s behaves as its %s says', async (tool, hint) => {
    await checkHint(peer, tool, [hint, await hintOf(peer, tool, hint)]);
  });

  it.each(CLAIMS)('%s does not behave as a flipped %s would say', async (tool, hint) => {
    const flipped = !(await hintOf(peer, tool, hint));
    await expect(checkHint(peer, tool, [hint, flipped])).rejects.toThrow();
  });
});

describe('over HTTP, mounted in a gateway', () => {
  let assay: Assay;
  let url: string;
  let session: Peer;
  let stateless: Peer;
  beforeAll(async () => {
    const env = { ASSAY_CODEBASE_WATCH: 'off' };
    assay = await startAssay({ servers: { codebase: { type: 'codebase', roots: [tmpdir()], env } } });
    await assay.settled();
    const { port, home } = assay;
    // Without a sandbox, the first index creates it.
    mkdirSync(join(home, 'codebase'), { recursive: true });
    url = `http://127.0.0.1:${port}/mcp/servers/codebase`;
    session = { client: await connectClient({ url }, 'legacy'), home };
    stateless = { client: await connectClient({ url }, 'modern'), home };
  });

  it.each(CLAIMS)('%s behaves as its %s says for a client with a session', async (tool, hint) => {
    await checkHint(session, tool, [hint, await hintOf(session, tool, hint)]);
  });

  // For a stateless client set_working_directory changes nothing, so a hint that it writes is merely cautious.
  it.each(CLAIMS.filter(([tool]) => tool !== 'set_working_directory'))(
    '%s behaves as its %s says for a stateless client',
    async (tool, hint) => {
      await checkHint(stateless, tool, [hint, await hintOf(stateless, tool, hint)]);
    },
  );

  it('each session has its own working directory, and a stateless client has to pass its project', async () => {
    const other: Peer = { client: await connectClient({ url }, 'legacy'), home: session.home };
    const [one, two] = [folderOfProject('one'), folderOfProject('two')];
    const projectOf = async (peer: Peer): Promise<unknown> =>
      at((await call(peer, 'index_status', {})).structured, 'project_id');
    await call(session, 'set_working_directory', { directory: one });
    await call(other, 'set_working_directory', { directory: two });
    const answer = await call(stateless, 'set_working_directory', { directory: two });
    expect(answer).toMatchObject({ isError: false, structured: { session_id: null, project_id: 'two' } });
    expect(answer.text).toContain('Pass project_id "two" with each call.');
    expect([await projectOf(session), await projectOf(other), await projectOf(stateless)]).toEqual([
      'one',
      'two',
      'default',
    ]);
  });

  it('a search whose server is killed is resent and counted; an index run is not', async () => {
    const { project, repo } = await indexedScene(stateless);
    const again = { server: 'codebase', outcome: 'answered' };
    const search = await callAndKill('search_code', { query: 'bookRefund', project_id: project });
    expect(search).toMatchObject({ isError: false });
    expect(listAt(search.structured, 'results')[0]).toMatchObject({ file_path: 'refunds.ts' });
    expect(await readGauge(assay, 'assay_retries_total', again)).toBe(1);
    await expect(
      callAndKill('index_repository', { repo_path: repo, project_id: project, force_reindex: true }),
    ).rejects.toThrow('It was not sent again, because the tool is not known to be idempotent');
    expect(await readGauge(assay, 'assay_retries_total', again)).toBe(1);
  });

  /** Kills the server after the call was sent to it, and before it can respond. */
  async function callAndKill(name: ToolName, args: JsonObject): Promise<Answer> {
    const { pid } = assay;
    const started = childrenOf(pid)
      .filter(({ command }) => command.includes(' codebase'))
      .flatMap(treeOf);
    for (const server of started) process.kill(server.pid, 'SIGSTOP');
    const answer = call(stateless, name, args);
    await until(
      'the call is under way',
      async () =>
        (await readGauge(assay, 'assay_requests_in_flight', { server: 'codebase' })) > 0 ? true : undefined,
      10_000,
    );
    // In a sandbox, the kernel ends the others with the first one.
    for (const server of started) kill(server.pid, 'SIGKILL');
    return answer;
  }
});

/** A process and all its descendants: in a sandbox, the server is a grandchild. */
function treeOf(top: ProcessLine): readonly ProcessLine[] {
  return [top, ...childrenOf(top.pid).flatMap(treeOf)];
}

// Only Linux has namespaces. Other systems rely on the checks above.
describe.skipIf(process.platform !== 'linux')('in separate namespaces', () => {
  const started = (mode: string, setup: string, home: string): Promise<Client> => {
    const script = `${setup} exec "$0" "$@"`;
    const program = [...PROGRAM, '--home', home];
    return connectClient({ command: ['unshare', mode, 'sh', '-c', script, ...program] }, 'legacy');
  };

  it('all tools work without a network', async () => {
    const home = tempDir();
    const peer: Peer = { client: await started('-rn', '', home), home };
    const scene = await indexedScene(peer);
    const found = await call(peer, 'search_code', { query: 'bookRefund', project_id: scene.project });
    expect(found.structured).toMatchObject({ mode: 'lexical', notes: [] });
    expect(found.text).toContain('refunds.ts:1-3');
    const symbol = await call(peer, 'find_symbol', { symbol: 'bookRefund', project_id: scene.project });
    expect(symbol.text).toContain('refunds.ts:1-3 function bookRefund');
    const outline = await call(peer, 'outline', { file_path: 'refunds.ts', project_id: scene.project });
    expect(outline.text).toContain('1-3 function bookRefund');
    const set = await call(peer, 'set_working_directory', { directory: scene.repo });
    expect(set.isError).toBe(false);
  });

  it('exactly the read-only tools work if the data is mounted read-only', async () => {
    const home = tempDir();
    const writer: Peer = { client: await overStdio(home), home };
    const scene = await indexedScene(writer);
    const before = snapshot(home);
    const mount = `mount --bind '${home}' '${home}' && mount -o remount,bind,ro '${home}' &&`;
    const peer: Peer = { client: await started('-rm', mount, home), home };
    const project_id = scene.project;
    const calls = {
      search_code: { query: 'bookRefund', project_id },
      index_status: { project_id },
      find_symbol: { symbol: 'bookRefund', project_id },
      outline: { file_path: 'refunds.ts', project_id },
      index_repository: { repo_path: scene.repo, project_id, force_reindex: true },
    };
    for (const [tool, args] of Object.entries(calls)) {
      const { isError } = await call(peer, tool, args);
      const { tools } = await peer.client.listTools();
      expect([tool, !isError]).toEqual([
        tool,
        tools.find(({ name }) => name === tool)?.annotations?.readOnlyHint,
      ]);
    }
    expect(snapshot(home)).toEqual(before);
  });
});

describe('destructiveHint: false of index_repository', () => {
  it('holds for any edits, options and deletions', async () => {
    const peer: Peer = { client: await overStdio(), home: HOME };
    const other = await indexedScene(peer);
    const others = snapshot(join(HOME, 'codebase', other.project));
    const paths = fc.constantFrom('a.ts', 'b/c.py', 'b/d.txt', 'refunds.ts');
    const step = fc.record({
      path: paths,
      text: fc.option(fc.string({ maxLength: 200 }), { nil: undefined }),
      force: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const scene = await indexedScene(peer);
        for (const { path, text, force } of steps) {
          if (text === undefined) rmSync(join(scene.repo, path), { force: true });
          else writeIn(scene.repo, path, text);
          const repository = snapshot(scene.repo);
          await index(peer, scene, { force_reindex: force });
          expect(snapshot(scene.repo)).toEqual(repository);
          expect(snapshot(join(HOME, 'codebase', other.project))).toEqual(others);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('holds if a run is killed: the previous index stays searchable', async () => {
    const home = tempDir();
    const killed: Peer = { client: await overStdio(home), home };
    const scene = await indexedScene(killed);
    for (let file = 0; file < 1_000; file += 1)
      writeIn(scene.repo, `many/${file}.ts`, `export function f${file}() {\n  return ${file};\n}\n`);
    const { pid } = killed.client.transport as { readonly pid?: number };
    expect(pid).toBeGreaterThan(1);
    const name = 'index_repository';
    await expect(
      killed.client.callTool(
        { name, arguments: { repo_path: scene.repo, project_id: scene.project, force_reindex: true } },
        { onprogress: ({ progress }) => progress > 1 && process.kill(pid!, 'SIGKILL') },
      ),
    ).rejects.toThrow();
    const peer: Peer = { client: await overStdio(home), home };
    const project_id = scene.project;
    expect((await call(peer, 'search_code', { query: 'bookRefund', project_id })).text).toContain(
      'refunds.ts:1-3',
    );
    expect((await call(peer, 'search_code', { query: 'f7', project_id })).text).not.toContain('many/');
    expect(await index(peer, scene)).toMatchObject({ status: 'success', files_total: 1_003 });
  });
});

/** A folder whose config file names this project. */
function folderOfProject(id: string): string {
  const folder = tempDir();
  const config = { version: '1.0', project: { name: id, id } };
  writeIn(folder, '.codebase-mcp/config.json', JSON.stringify(config));
  return folder;
}
