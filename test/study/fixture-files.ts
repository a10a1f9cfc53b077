import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVERS } from './servers.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');

/** A copy of a server's files, and the options of a verification that name them. */
export interface FixtureFiles {
  readonly folder: string;
  readonly options: readonly string[];
  readonly remove: () => void;
}

export function filesOf(name: string): FixtureFiles {
  const folder = mkdtempSync(join(tmpdir(), 'assay-study-files-'));
  const own = join(FIXTURES, name);
  if (existsSync(own)) cpSync(own, folder, { recursive: true });
  if (SERVERS.find((server) => server.name === name)?.inRepository === true) writeRepository(folder);
  const options = [
    ['--fixtures', join(folder, 'assay-verify.json')],
    ['--baseline', join(folder, 'baseline.json')],
  ].flatMap(([option = '', file = '']) => (existsSync(file) ? [option, file] : []));
  return { folder, options, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Makes the seed data a repository with two commits, a tag, a branch and an uncommitted change. */
function writeRepository(fixtures: string): void {
  const folder = join(fixtures, 'seed');
  mkdirSync(folder, { recursive: true });
  const git = (...args: readonly string[]): void => {
    const identity = [
      '-c',
      'user.name=Study',
      '-c',
      'user.email=study@example.org',
      '-c',
      'commit.gpgsign=false',
    ];
    const done = spawnSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
  };
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'Study');
  git('config', 'user.email', 'study@example.org');
  for (const [number, text] of ['one\n', 'one\ntwo\n'].entries()) {
    writeFileSync(join(folder, 'notes.txt'), text);
    git('add', '.');
    git('commit', '--quiet', '-m', `commit ${number + 1}`);
  }
  git('tag', 'v1');
  git('branch', 'other');
  writeFileSync(join(folder, 'notes.txt'), 'one\ntwo\nthree\n');
}
