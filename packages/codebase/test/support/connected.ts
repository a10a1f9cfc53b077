import { tmpdir } from 'node:os';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { FolderAccess, type FolderAccessOptions } from '../../src/access/folder-access.ts';
import { ToldRoots } from '../../src/access/told-roots.ts';
import { Codebase } from '../../src/codebase.ts';
import { Counters } from '../../src/counters.ts';
import { ProjectConfigs } from '../../src/projects/project-config.ts';
import { ProjectFolders } from '../../src/projects/project-folders.ts';
import { createCodebaseServer } from '../../src/server.ts';
import { Session } from '../../src/session.ts';
import { readSettings } from '../../src/settings.ts';
import { endLater } from '../../../../test/support/endings.ts';
import { ROOT, tempDir } from '../../../../test/support/paths.ts';
import type { Peer } from '../hint-checks.ts';

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly access?: Partial<FolderAccessOptions>;
}

/** A client of a server in this process, connected in memory. By default, it may use every folder that a test makes. */
export async function connected({ env = {}, home = tempDir(), access = {} }: Given = {}): Promise<Peer> {
  const folders = new ProjectFolders(home);
  const settings = readSettings(env);
  if (!settings.ok) throw new Error(settings.error.problem);
  const codebase = new Codebase({ folders, settings: settings.value });
  const server = createCodebaseServer({
    codebase,
    folders,
    configs: new ProjectConfigs(),
    access: new FolderAccess({
      ...{ roots: [tmpdir(), ROOT], cwd: ROOT, userHome: tempDir(), own: [home], told: new ToldRoots(home) },
      calledAs: 'assay codebase',
      ...access,
    }),
    session: new Session({ isStateless: false }),
    counters: new Counters(),
  });
  const client = new Client({ name: 'test', version: '1' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  endLater(async () => {
    await client.close();
    await codebase.close();
  });
  return { client, home };
}
