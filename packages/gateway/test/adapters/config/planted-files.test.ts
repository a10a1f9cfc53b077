// Files that somebody else placed: links to devices, pipes, folders, and links out of a project.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/adapters/config/load-config.ts';
import { readSettings } from '../../../src/adapters/config/client-configs/settings-file.ts';
import { ProjectConfigs } from '../../../../codebase/src/projects/project-config.ts';
import { readTextWithin, readTextWithinNow } from '@assay-mcp/kit/platform/bounded-file';
import { readText, readWhole, writeUnlessChanged } from '@assay-mcp/kit/platform/files';
import { newUser } from '../../../../../test/support/client-configs.ts';
import { tempDir } from '../../../../../test/support/paths.ts';

const TIMEOUT_MS = 20_000;

/** What a project can place where a file is expected, by name. */
const PLANTED: Readonly<Record<string, (path: string) => void>> = {
  'a link to /dev/zero': (path) => symlinkSync('/dev/zero', path),
  'a FIFO': (path) => void execFileSync('mkfifo', [path]),
  'a folder': (path) => mkdirSync(path),
  'a huge sparse file': (path) => {
    writeFileSync(path, '');
    truncateSync(path, 8 * 1024 ** 3);
  },
};

it.skipIf(process.platform === 'win32').each(Object.keys(PLANTED))(
  'every reader refuses %s at once',
  async (name) => {
    const folder = tempDir();
    const path = join(folder, '.codebase-mcp', 'config.json');
    mkdirSync(dirname(path));
    PLANTED[name]?.(path);
    const environment = { env: {}, cwd: folder, home: folder };
    const outcomes = await Promise.all([
      readText(path),
      readWhole(path),
      readTextWithin(path, 1_000),
      Promise.resolve(readTextWithinNow(path, 1_000)),
      readSettings(path),
      Promise.resolve(loadConfig(path, environment)),
      new ProjectConfigs().find(folder).then((config) => config?.project),
    ]);
    expect(outcomes.map((outcome) => outcome?.ok)).toEqual(outcomes.map(() => false));
    expect(await writeUnlessChanged(path, 'former', { text: 'new', mode: 0o600 })).toMatchObject({
      value: 'changed',
    });
  },
  TIMEOUT_MS,
);

it("import and connect do not follow a project's links", async () => {
  const user = newUser();
  user.write('{"mcpServers": {"mine": {"command": "mine"}}}', '.cursor', 'mcp.json');
  for (const [link, target] of [
    ['file/.cursor/mcp.json', user.at('.cursor', 'mcp.json')],
    ['folder/.cursor', user.at('.cursor')],
  ] as const) {
    const project = user.at(link.split('/')[0] ?? '');
    mkdirSync(dirname(user.at(...link.split('/'))), { recursive: true });
    symlinkSync(target, user.at(...link.split('/')));
    expect(await readSettings(join(project, '.cursor', 'mcp.json'), project)).toMatchObject({ ok: false });
    const before = readFileSync(user.at('.cursor', 'mcp.json'), 'utf8');
    for (const command of [
      ['import', '--no-equip'],
      ['connect', '--undo'],
    ]) {
      const [first = '', ...options] = command;
      const done = await user.assay(first, 'cursor', '--project', project, ...options);
      expect([command, done.code === 0]).toEqual([command, false]);
    }
    const connected = await user.assay('connect', 'cursor', '--project', project);
    expect(connected.stderr).toContain('is a link, which is not followed in a project');
    expect(readFileSync(user.at('.cursor', 'mcp.json'), 'utf8')).toBe(before);
  }
});
