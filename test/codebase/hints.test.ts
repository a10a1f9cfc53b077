// Each hint of each tool, as a client reads it from `tools/list`, held against what the tool does. The value of a hint
// chooses what is checked, so a hint that is flipped fails.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { HINTS, type Hint } from '../../src/core/hints/hint.ts';
import { startAssay } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { at } from '../support/json.ts';
import { MAIN, tempDir } from '../support/place.ts';
import { call, checkHint, type Peer, type ToolName, writeIn } from './hint-checks.ts';

const TOOLS: readonly ToolName[] = ['index_repository', 'search_code', 'set_working_directory'];
const CLAIMS = TOOLS.flatMap((tool) => HINTS.map((hint): readonly [ToolName, Hint] => [tool, hint]));

const HOME = tempDir();
mkdirSync(join(HOME, 'codebase'));

async function hintOf({ client }: Peer, tool: ToolName, hint: Hint): Promise<boolean> {
  const listed = (await client.listTools()).tools.find(({ name }) => name === tool);
  const value = listed?.annotations?.[hint];
  expect(value).toBeTypeOf('boolean');
  return value === true;
}

function overStdio(): Promise<Client> {
  return connectClient({ command: [process.execPath, MAIN, 'codebase', '--home', HOME] }, 'legacy');
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
  let url: string;
  let session: Peer;
  let stateless: Peer;
  beforeAll(async () => {
    const { port, home } = await startAssay({ servers: { codebase: { type: 'codebase' } } });
    mkdirSync(join(home, 'codebase'));
    url = `http://127.0.0.1:${port}/mcp/servers/codebase`;
    session = { client: await connectClient({ url }, 'legacy'), home };
    stateless = { client: await connectClient({ url }, 'modern'), home };
  });

  it.each(CLAIMS)('%s behaves as its %s says, to a client with a session', async (tool, hint) => {
    await checkHint(session, tool, [hint, await hintOf(session, tool, hint)]);
  });

  // To such a client set_working_directory does nothing, so a hint that says that it writes is only cautious.
  it.each(CLAIMS.filter(([tool]) => tool !== 'set_working_directory'))(
    '%s behaves as its %s says, to a stateless client',
    async (tool, hint) => {
      await checkHint(stateless, tool, [hint, await hintOf(stateless, tool, hint)]);
    },
  );

  it('each session has its own working directory, and a stateless client learns that it has none', async () => {
    const other: Peer = { client: await connectClient({ url }, 'legacy'), home: session.home };
    const [one, two] = [folderOfProject('one'), folderOfProject('two')];
    const projectOf = async (peer: Peer): Promise<unknown> =>
      at((await call(peer, 'index_status', {})).structured, 'project_id');
    await call(session, 'set_working_directory', { directory: one });
    await call(other, 'set_working_directory', { directory: two });
    const told = await call(stateless, 'set_working_directory', { directory: two });
    expect(told).toMatchObject({ isError: false, structured: { session_id: null, project_id: 'two' } });
    expect(told.text).toContain('Pass project_id "two" with each call.');
    expect([await projectOf(session), await projectOf(other), await projectOf(stateless)]).toEqual([
      'one',
      'two',
      'default',
    ]);
  });
});

/** A folder whose config file names this project. */
function folderOfProject(id: string): string {
  const folder = tempDir();
  const config = { version: '1.0', project: { name: id, id } };
  writeIn(folder, '.codebase-mcp/config.json', JSON.stringify(config));
  return folder;
}
