import type { SeenDefinition, SeenServer } from '../../gateway/ports/store.ts';
import { portions, type Trx } from './dialect.ts';
import type { DefinitionRow, ServerRow } from './tables.ts';

/** Writes the rows of the server that differ from those that are there. */
export async function writeServer(trx: Trx, server: SeenServer): Promise<void> {
  const known = await serverRow(trx, server.name, server.identity);
  const row = rowOf(server);
  await trx
    .insertInto('assay_servers')
    .values(row)
    .onConflict((conflict) => conflict.columns(['name', 'identity']).doUpdateSet(row))
    .execute();
  const before = await definitionRows(trx, server.name, server.identity);
  await writeDefinitions(trx, server, before);
  await writeSightings(trx, server, known?.seen_ms ?? server.seenMs);
}

export async function readServers(trx: Trx): Promise<readonly Omit<SeenServer, 'definitions'>[]> {
  const rows = await trx
    .selectFrom('assay_servers')
    .selectAll()
    .orderBy('name')
    .orderBy('seen_ms', 'desc')
    .orderBy('identity')
    .execute();
  return rows.map(serverOf);
}

export async function readServer(trx: Trx, name: string, identity: string): Promise<SeenServer | undefined> {
  const row = await serverRow(trx, name, identity);
  if (row === undefined) return undefined;
  const rows = await definitionRows(trx, name, identity);
  return { ...serverOf(row), definitions: rows.map(definitionOf) };
}

function serverRow(trx: Trx, name: string, identity: string): Promise<ServerRow | undefined> {
  return trx
    .selectFrom('assay_servers')
    .selectAll()
    .where('name', '=', name)
    .where('identity', '=', identity)
    .executeTakeFirst();
}

function definitionRows(trx: Trx, name: string, identity: string): Promise<readonly DefinitionRow[]> {
  return trx
    .selectFrom('assay_definitions')
    .selectAll()
    .where('server', '=', name)
    .where('identity', '=', identity)
    .orderBy('position')
    .execute();
}

async function writeDefinitions(
  trx: Trx,
  server: SeenServer,
  before: readonly DefinitionRow[],
): Promise<void> {
  const differing = server.definitions
    .map((definition, position) => definitionRow(server, definition, position))
    .filter((row, position) => !isSame(row, before[position]));
  for (const rows of portions(differing))
    await trx
      .insertInto('assay_definitions')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['server', 'identity', 'position']).doUpdateSet((build) => ({
          kind: build.ref('excluded.kind'),
          key_json: build.ref('excluded.key_json'),
          digest: build.ref('excluded.digest'),
          text: build.ref('excluded.text'),
        })),
      )
      .execute();
  if (before.length > server.definitions.length)
    await trx
      .deleteFrom('assay_definitions')
      .where('server', '=', server.name)
      .where('identity', '=', server.identity)
      .where('position', '>=', server.definitions.length)
      .execute();
}

function isSame(row: DefinitionRow, before: DefinitionRow | undefined): boolean {
  return (
    before?.digest === row.digest &&
    before.text === row.text &&
    before.kind === row.kind &&
    before.key_json === row.key_json
  );
}

/** A definition that left the list was last seen when the server was last seen with it. */
async function writeSightings(trx: Trx, server: SeenServer, lastSeenMs: number): Promise<void> {
  const own = { server: server.name, identity: server.identity };
  const rows = await trx
    .selectFrom('assay_sightings')
    .select(['kind', 'digest', 'last_seen_ms'])
    .where('server', '=', own.server)
    .where('identity', '=', own.identity)
    .execute();
  const known = new Map(rows.map((row) => [`${row.kind} ${row.digest}`, row]));
  const listed = new Map(server.definitions.map((one) => [`${one.kind} ${one.digest}`, one]));
  const added = [...listed].filter(([id]) => known.get(id)?.last_seen_ms !== null).map(([, one]) => one);
  const gone = [...known.values()].filter(
    ({ kind, digest, last_seen_ms }) => last_seen_ms === null && !listed.has(`${kind} ${digest}`),
  );
  for (const portion of portions(added))
    await trx
      .insertInto('assay_sightings')
      .values(
        portion.map(({ kind, digest }) => ({
          ...own,
          kind,
          digest,
          first_seen_ms: server.seenMs,
          last_seen_ms: null,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['server', 'identity', 'kind', 'digest']).doUpdateSet({ last_seen_ms: null }),
      )
      .execute();
  for (const [kind, left] of Map.groupBy(gone, (row) => row.kind))
    for (const portion of portions(left))
      await trx
        .updateTable('assay_sightings')
        .set({ last_seen_ms: lastSeenMs })
        .where('server', '=', own.server)
        .where('identity', '=', own.identity)
        .where('kind', '=', kind)
        .where(
          'digest',
          'in',
          portion.map(({ digest }) => digest),
        )
        .execute();
}

function rowOf(server: SeenServer): ServerRow {
  return {
    name: server.name,
    identity: server.identity,
    era: server.era,
    version: server.version,
    capabilities_json: JSON.stringify(server.capabilities),
    instructions_json: server.instructions === undefined ? null : JSON.stringify(server.instructions),
    seen_ms: server.seenMs,
  };
}

function serverOf(row: ServerRow): Omit<SeenServer, 'definitions'> {
  return {
    name: row.name,
    identity: row.identity,
    era: row.era,
    version: row.version,
    capabilities: JSON.parse(row.capabilities_json) as SeenServer['capabilities'], // `rowOf` wrote it
    instructions: row.instructions_json === null ? undefined : (JSON.parse(row.instructions_json) as string), // so here
    seenMs: row.seen_ms,
  };
}

function definitionRow(server: SeenServer, definition: SeenDefinition, position: number): DefinitionRow {
  const { kind, key, digest, text } = definition;
  return {
    server: server.name,
    identity: server.identity,
    position,
    kind,
    key_json: key === undefined ? null : JSON.stringify(key),
    digest,
    text,
  };
}

function definitionOf({ kind, key_json, digest, text }: DefinitionRow): SeenDefinition {
  const key = key_json === null ? undefined : (JSON.parse(key_json) as string); // `definitionRow` wrote it
  return { kind, key, text, digest };
}
