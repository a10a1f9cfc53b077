import { rawRows } from './stores.ts';
import type { StorePlace } from './store-values.ts';

/** The tables that operators' requests write. Assay may write to the others at any time by itself. */
const TABLES = ['assay_tokens', 'assay_records', 'assay_record_state', 'assay_audit', 'assay_audit_state'];
export const MAX_WRITES = 30;

/** Makes the nth write fail, on any connection; a rollback also restores the count. */
export class Faults {
  readonly #place: StorePlace;

  constructor(place: StorePlace) {
    this.#place = place;
  }

  async install(): Promise<void> {
    await this.#run('create table test_fault (left_over integer)');
    await this.#run('insert into test_fault values (1000000)');
    const isPostgres = this.#place.databaseUrl !== undefined;
    if (isPostgres)
      await this.#run(`create function test_fail() returns trigger as $$ begin
        update test_fault set left_over = left_over - 1;
        if (select left_over from test_fault) = 0 then raise exception 'the test says so'; end if;
        if tg_op = 'DELETE' then return old; else return new; end if; end $$ language plpgsql`);
    for (const table of TABLES)
      for (const verb of ['insert', 'update', 'delete'])
        await this.#run(
          isPostgres
            ? `create trigger test_${verb} before ${verb} on ${table} for each row execute function test_fail()`
            : `create trigger test_${verb}_${table} before ${verb} on ${table} begin
                update test_fault set left_over = left_over - 1;
                select raise(abort, 'the test says so') from test_fault where left_over = 0; end`,
        );
  }

  /** Undefined disables the fault. */
  async fail(nth: number | undefined): Promise<void> {
    await this.#run(`update test_fault set left_over = ${nth ?? 1_000_000}`);
  }

  async content(): Promise<string> {
    if (this.#place.databaseUrl !== undefined) {
      const all = TABLES.map((table) => `(select json_agg(x order by x::text) from ${table} x) as ${table}`);
      return JSON.stringify(await this.#run(`select ${all.join(', ')}`));
    }
    const tables = [];
    for (const table of TABLES) tables.push([table, await this.#run(`select * from ${table} order by 1, 2`)]);
    return JSON.stringify(tables);
  }

  #run(statement: string): Promise<readonly unknown[]> {
    return rawRows(this.#place, statement);
  }
}
