import type { Trx } from './dialect.ts';

export async function readSettings(trx: Trx): Promise<ReadonlyMap<string, unknown>> {
  const rows = await trx.selectFrom('assay_settings').selectAll().orderBy('key').execute();
  return new Map(rows.map((row) => [row.key, JSON.parse(row.value_json) as unknown]));
}

/** The same of tables that may be of any version; nothing where there are none yet. */
export async function readSettingsIfAny(trx: Trx): Promise<ReadonlyMap<string, unknown>> {
  const tables = await trx.introspection.getTables();
  return tables.some(({ name }) => name === 'assay_settings') ? readSettings(trx) : new Map();
}

/** Undefined takes the setting away. */
export async function writeSetting(trx: Trx, key: string, value: unknown): Promise<void> {
  if (value === undefined) {
    await trx.deleteFrom('assay_settings').where('key', '=', key).execute();
    return;
  }
  const value_json = JSON.stringify(value);
  await trx
    .insertInto('assay_settings')
    .values({ key, value_json })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value_json }))
    .execute();
}
