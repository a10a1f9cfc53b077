import { resolve } from 'node:path';
import { createResealing } from '../adapters/auth/resealing.ts';
import { inspectStore, type ReadableStore, withReadableStore } from '../adapters/store/inspect-store.ts';
import { listPostgresCommands } from '../adapters/store/postgres-url.ts';
import { backUpSqlite, restoreSqlite } from '../adapters/store/sqlite-backup.ts';
import type { AppOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { BackupOptions, StoreBackup, StoreCheck, StoreRestore } from '../edges/cli/store-ports.ts';
import { verifyCalls } from '../gateway/services/activity/call-history.ts';
import { toEntrySealName } from '../gateway/services/bundles/entry-records.ts';
import { listSealedRows, resealRow } from '../gateway/services/store/sealed-rows.ts';
import { type Environment, getVariable, withEnvironment } from './environment.ts';
import { findAnyGateway } from './gateway-lock.ts';

/** Sealed rows that are named in a check; all are counted. */
const MAX_LISTED = 100;

export function backUpStore(
  file: string,
  { replaces, ...options }: BackupOptions,
): Promise<Result<StoreBackup, Refusal>> {
  return withEnvironment<StoreBackup>(
    { ...options, isQuiet: true, transport: 'pipe' },
    async (environment) => {
      const path = resolve(file);
      const databaseUrl = getDatabaseUrl(environment);
      if (databaseUrl !== undefined) return toPostgres(databaseUrl, path, 'backup');
      const { home } = environment;
      const done = await backUpSqlite({ home, path, replaces });
      return done.ok ? ok({ kind: 'file', path, ...done.value }) : done;
    },
  );
}

export function restoreStore(file: string, options: AppOptions): Promise<Result<StoreRestore, Refusal>> {
  return withEnvironment<StoreRestore>(
    { ...options, isQuiet: true, transport: 'pipe' },
    async (environment) => {
      const path = resolve(file);
      const databaseUrl = getDatabaseUrl(environment);
      if (databaseUrl !== undefined) return toPostgres(databaseUrl, path, 'restore');
      const { home } = environment;
      const running = await findAnyGateway(home);
      if (running !== undefined) return err({ code: 'GATEWAY_RUNNING', pid: running.pid, url: undefined });
      const done = await restoreSqlite(home, path);
      return done.ok ? ok({ kind: 'file', path, ...done.value }) : done;
    },
  );
}

function getDatabaseUrl({ configEnvironment }: Environment): string | undefined {
  return getVariable(configEnvironment.env, 'ASSAY_DATABASE_URL');
}

function toPostgres(
  databaseUrl: string,
  path: string,
  what: 'backup' | 'restore',
): Result<Extract<StoreBackup, { kind: 'database' }>, Refusal> {
  const commands = listPostgresCommands(databaseUrl, path)?.[what];
  return commands === undefined
    ? err({ code: 'SETTING_INVALID', name: 'ASSAY_DATABASE_URL', reason: 'it must be a postgres:// URL' })
    : ok({ kind: 'database', commands });
}

/** Reads everything and changes nothing. */
export function checkStore(options: AppOptions): Promise<Result<StoreCheck, Refusal>> {
  return withEnvironment<StoreCheck>(
    { ...options, isQuiet: true, transport: 'pipe' },
    async (environment) => {
      const place = { home: environment.home, databaseUrl: getDatabaseUrl(environment) };
      const { kind, place: shown, is, fault } = await inspectStore(place);
      const facts = { kind, place: shown, state: is, ...(fault !== undefined && { fault }) };
      if (is !== 'whole') return ok(facts);
      return withReadableStore<StoreCheck>(place, async (store) => {
        if (store.damage !== undefined) return ok({ ...facts, state: 'at_fault', fault: store.damage });
        if (store.migrations.length === 0) return ok({ ...facts, state: 'absent' });
        const sealed = await checkSealedRows(store, environment);
        if (!sealed.ok) return sealed;
        const calls = await verifyCalls(store.calls);
        if (!calls.ok) return calls;
        return ok({ ...facts, migrations: store.migrations, keys: sealed.value, calls: calls.value });
      });
    },
  );
}

/** How many rows are encrypted in the store, and which of them the keys of this home do not decrypt. */
async function checkSealedRows(
  { calls }: ReadableStore,
  { keys }: Environment,
): Promise<Result<NonNullable<StoreCheck['keys']>, Refusal>> {
  const resealing = createResealing(keys, toEntrySealName);
  const rows = await listSealedRows(calls, resealing);
  if (!rows.ok) return rows;
  // Without usable keys, no row can be decrypted, which is what this reports.
  await resealing.keys();
  const unopened = rows.value.filter((row) => resealRow(row, resealing) === undefined);
  return ok({
    sealed: rows.value.length,
    unopened: unopened.length,
    unopenedRows: unopened.slice(0, MAX_LISTED).map(({ kind, id }) => ({ kind, id })),
  });
}
