import { createHash } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../packages/gateway/src/gateway/ports/log.ts';
import type { RestTimes } from '../../packages/gateway/src/adapters/store/sqlite-thread.ts';
import type { Store } from '../../packages/gateway/src/gateway/ports/store.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { endLater, killLater, until } from './endings.ts';
import { ROOT, tempDir } from './paths.ts';
import { newDatabase, rowsOf } from './postgres.ts';
import { tryStore, valueOf, type StorePlace } from './store-values.ts';

/** The databases on which the store must behave the same, each with a function that creates an empty one. */
export const DATABASES: readonly (readonly [name: string, newPlace: () => Promise<StorePlace>])[] = [
  ['SQLite', () => Promise.resolve({ home: tempDir(), databaseUrl: undefined })],
  ['PostgreSQL', async () => ({ home: tempDir(), databaseUrl: await newDatabase() })],
];

export async function openAt(place: StorePlace, log?: Log, rest?: RestTimes): Promise<Store> {
  const store = valueOf(await tryStore(place, log, rest));
  endLater(() => store.close());
  return store;
}

/** Runs a statement in the database as another program would. */
export async function rawRows(
  { home, databaseUrl }: StorePlace,
  statement: string,
): Promise<readonly unknown[]> {
  if (databaseUrl !== undefined) return rowsOf(databaseUrl, statement);
  const database = openDatabase(join(home, 'assay.db'), { mode: 'write' });
  try {
    const prepared = database.prepare(statement);
    return prepared.columns().length > 0 ? prepared.all() : [prepared.run()];
  } finally {
    database.close();
  }
}

/** Blocks all other writers to the store of this home folder until the returned function is called. */
export function lockStore(home: string): () => void {
  const database = openDatabase(join(home, 'assay.db'), { mode: 'write' });
  database.exec('begin immediate');
  return () => {
    database.exec('rollback');
    database.close();
  };
}

/** The entire content, for comparison. */
export async function contentOf(place: StorePlace): Promise<readonly unknown[]> {
  if (place.databaseUrl === undefined) return [digestOf(readFileSync(join(place.home, 'assay.db')))];
  return [
    await rawRows(place, "select tablename from pg_tables where schemaname = 'public' order by 1"),
    await rawRows(place, 'select * from assay_migrations order by version'),
    await rawRows(place, 'select * from assay_records'),
  ];
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Another process that runs test/fixtures/store-process.ts with a task. */
export interface StoreProcess {
  readonly child: ChildProcess;
  /** Complete lines of its stdout so far. */
  lines(): readonly string[];
  readonly ended: Promise<number | null>;
  /**
   * Kills it with SIGKILL; resolves with the exit code once any statement it had just sent to a server is also done.
   */
  kill(): Promise<number | null>;
}

export function startProcess(place: StorePlace, ...task: readonly string[]): StoreProcess {
  const script = join(ROOT, 'test', 'fixtures', 'store-process.ts');
  const args = [...process.execArgv, script, place.home, place.databaseUrl ?? '', ...task];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  killLater(child.pid);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    child,
    lines: () => text.split('\n').slice(0, -1),
    ended,
    kill: async () => {
      child.kill('SIGKILL');
      const code = await ended;
      if (place.databaseUrl !== undefined)
        await until('nobody is connected', async () =>
          (await rawRows(place, OTHERS)).length === 0 ? true : undefined,
        );
      return code;
    },
  };
}

const OTHERS = `select pid from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
