// What happens to a tool and its overrides when its server changes it, for every change, route and override.
import type { Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { rounds } from '../support/campaign.ts';
import { connectClient } from '../support/clients.ts';
import { endLater, until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { claimsIn, short, toolsOf } from '../support/hints.ts';
import { at, isObject, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { startMade } from '../fixtures/http-made.ts';

type Change = 'safer hint' | 'riskier hint' | 'description' | 'schema' | 'nothing' | 'removed' | 'back';
type Override = 'no override' | 'cautious override' | 'permissive override';
type Way = 'refresh' | 'restart' | 're-register same' | 're-register swapped';

/** One letter for each hint: readOnly, destructive, idempotent, openWorld. `+` true, `-` false, `.` nothing. */
interface Row {
  /** `o` override, `d` declared; `!` suspended. */
  readonly claims: readonly [string, string, string, string];
  readonly effective: string;
  readonly emitted: string;
  readonly suspends: readonly string[];
}

interface Drift {
  readonly isDangerous: boolean;
  readonly dangers: readonly string[];
  readonly changes: readonly JsonObject[];
}

const CHANGES: readonly Change[] = [
  'safer hint',
  'riskier hint',
  'description',
  'schema',
  'nothing',
  'removed',
  'back',
];
const OVERRIDES: Readonly<Record<Override, JsonObject | undefined>> = {
  'no override': undefined,
  'cautious override': { destructiveHint: true },
  'permissive override': { readOnlyHint: true },
};

/** What all tools declare at first, and again unless stated otherwise: `--.-`. */
const DECLARED: JsonObject = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** A tool after its change. Undefined: its server no longer has it. */
const AFTER: Readonly<Record<Change, (tool: JsonObject) => JsonObject | undefined>> = {
  'safer hint': (tool) => ({ ...tool, annotations: { ...DECLARED, readOnlyHint: true } }),
  'riskier hint': (tool) => ({ ...tool, annotations: { ...DECLARED, openWorldHint: true } }),
  description: (tool) => ({ ...tool, description: 'Does what it wants.' }),
  schema: (tool) => ({
    ...tool,
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  }),
  nothing: (tool) => tool,
  removed: () => undefined,
  back: (tool) => tool,
};

/** How each change is reported, by tool name. A missing tool has no drift, and neither has an unchanged one. */
const DRIFTS: Readonly<Record<Change, ((name: string) => Drift) | undefined>> = {
  'safer hint': () => ({
    isDangerous: true,
    dangers: ['it looks safer: readOnlyHint is true now', 'it looks safer: idempotentHint is true now'],
    changes: [{ path: 'annotations.readOnlyHint', before: 'false', after: 'true' }],
  }),
  'riskier hint': () => ({
    isDangerous: true,
    dangers: ['it declares itself more dangerous: openWorldHint is true now'],
    changes: [{ path: 'annotations.openWorldHint', before: 'false', after: 'true' }],
  }),
  description: (name) => ({
    isDangerous: false,
    dangers: [],
    changes: [{ path: 'description', before: `"Does ${name}."`, after: '"Does what it wants."' }],
  }),
  schema: () => ({
    isDangerous: true,
    dangers: ['its input schema changed'],
    changes: [{ path: 'inputSchema.properties.path', after: '{"type":"string"}' }],
  }),
  nothing: undefined,
  removed: undefined,
  back: undefined,
};

const PLAIN: Row = { claims: ['d-', 'd-', '', 'd-'], effective: '----', emitted: '--.-', suspends: [] };
const RAISED: Row = { claims: ['d-', 'o+ d-', '', 'd-'], effective: '-+--', emitted: '-+.-', suspends: [] };
const LOWERED: Row = { claims: ['o+ d-', 'd-', '', 'd-'], effective: '+-+-', emitted: '+-.-', suspends: [] };
const HELD: Row = {
  claims: ['o+! d-', 'd-', '', 'd-'],
  effective: '----',
  emitted: '--.-',
  suspends: ['readOnlyHint'],
};

/** Expected if the server is the same, by any route: a removed tool has neither claims nor values. */
const SAME: Readonly<Record<Change, Readonly<Record<Override, Row | 'gone'>>>> = {
  'safer hint': {
    'no override': { claims: ['d+', 'd-', '', 'd-'], effective: '+-+-', emitted: '+-.-', suspends: [] },
    // An operator's "destructive" outweighs a "read-only" that the server declares later.
    'cautious override': {
      claims: ['d+', 'o+ d-', '', 'd-'],
      effective: '-+--',
      emitted: '-+.-',
      suspends: [],
    },
    'permissive override': {
      claims: ['o+! d+', 'd-', '', 'd-'],
      effective: '+-+-',
      emitted: '+-.-',
      suspends: ['readOnlyHint'],
    },
  },
  'riskier hint': {
    'no override': { claims: ['d-', 'd-', '', 'd+'], effective: '---+', emitted: '--.+', suspends: [] },
    'cautious override': {
      claims: ['d-', 'o+ d-', '', 'd+'],
      effective: '-+-+',
      emitted: '-+.+',
      suspends: [],
    },
    'permissive override': {
      claims: ['o+! d-', 'd-', '', 'd+'],
      effective: '---+',
      emitted: '--.+',
      suspends: ['readOnlyHint'],
    },
  },
  description: { 'no override': PLAIN, 'cautious override': RAISED, 'permissive override': LOWERED },
  schema: { 'no override': PLAIN, 'cautious override': RAISED, 'permissive override': HELD },
  nothing: { 'no override': PLAIN, 'cautious override': RAISED, 'permissive override': LOWERED },
  removed: { 'no override': 'gone', 'cautious override': 'gone', 'permissive override': 'gone' },
  back: { 'no override': PLAIN, 'cautious override': RAISED, 'permissive override': LOWERED },
};

/** Expected if another server has taken the name: no override of the first server's tool applies to its tool. */
const OTHER: Readonly<Record<Change, Row | 'gone'>> = {
  'safer hint': { claims: ['d+', 'd-', '', 'd-'], effective: '+-+-', emitted: '+-.-', suspends: [] },
  'riskier hint': { claims: ['d-', 'd-', '', 'd+'], effective: '---+', emitted: '--.+', suspends: [] },
  description: PLAIN,
  schema: PLAIN,
  nothing: PLAIN,
  removed: 'gone',
  back: PLAIN,
};

/** Expected for any claims of an untrusted server: its "false" for destructive and openWorld has no effect. */
const UNTRUSTED_DECISION = '-+-+';

const WAYS: readonly Way[] = ['refresh', 'restart', 're-register same', 're-register swapped'];
const SERVERS: Readonly<Record<Way, string>> = {
  refresh: 'refreshed',
  restart: 'restarted',
  're-register same': 'again',
  're-register swapped': 'swapped',
};

interface Cell {
  readonly change: Change;
  readonly override: Override;
  /** The tool's name on its server. */
  readonly name: string;
}

const CELLS: readonly Cell[] = CHANGES.flatMap((change) =>
  (Object.keys(OVERRIDES) as Override[]).map((override) => ({
    change,
    override,
    name: `${change} ${override}`.replaceAll(' ', '-'),
  })),
);

/** A server under test, and another one that replaces it under its name. */
interface Peer {
  readonly entry: JsonObject;
  readonly swapped: JsonObject;
  have(tools: readonly JsonObject[]): void;
}

const PEERS: Readonly<Record<string, (tools: readonly JsonObject[]) => Promise<Peer>>> = {
  stdio: async (tools) => filedServer(tools, { quiet: true }),
  'Streamable HTTP, legacy': (tools) => httpPeer('legacy', tools),
  'Streamable HTTP, modern': (tools) => httpPeer('modern', tools),
};

async function httpPeer(era: 'legacy' | 'modern', first: readonly JsonObject[]): Promise<Peer> {
  let tools = first;
  const made = async (): Promise<string> => {
    const server = await startMade({
      era,
      get tools() {
        return tools;
      },
    });
    endLater(() => server.close());
    return server.url;
  };
  const have = (now: readonly JsonObject[]): void => {
    tools = now;
  };
  return { entry: { url: await made() }, swapped: { url: await made() }, have };
}

interface Seen {
  readonly claims: readonly string[];
  readonly effective: string;
  readonly decision: string;
  /** As listed by the official client. */
  readonly emitted: string;
  readonly suspends: Json;
  readonly drift: Json | undefined;
  readonly id: string;
  readonly trust: Json | undefined;
}

/** The tools of one server at one point in time, by name. */
type Snapshot = ReadonlyMap<string, Seen>;

interface Snapshots {
  readonly before: Snapshot;
  readonly missing: Snapshot;
  readonly after: Snapshot;
  /** After the first server has been registered under its name again. */
  readonly returned?: Snapshot;
}

// The rules do not depend on the transport, so a short run covers only one.
describe.each(Object.keys(PEERS).slice(0, rounds({ short: 1, long: Infinity })))('over %s', (transport) => {
  const snapshots = new Map<Way, Snapshots>();

  beforeAll(async () => {
    const setup = await openSetup(transport);
    const before = await setup.takeSnapshots();
    // Tools that come back are missing in between.
    setup.change((cell) => (cell.change === 'back' ? undefined : AFTER[cell.change](original(cell))));
    await setup.readAgain();
    const missing = await setup.takeSnapshots();
    setup.change((cell) => AFTER[cell.change](original(cell)));
    await setup.readAgain();
    const after = await setup.takeSnapshots();
    await setup.register('swapped', 'entry');
    const returned = await setup.takeSnapshots();
    for (const way of WAYS) {
      const [was, gone, is] = [before, missing, after].map((all) => all.get(way)!);
      const common = { before: was!, missing: gone!, after: is! };
      snapshots.set(
        way,
        way === 're-register swapped' ? { ...common, returned: returned.get(way)! } : common,
      );
    }
  });

  describe.each(WAYS)('%s', (way) => {
    it.each(CELLS)('has the expected hints and drift: $change, $override', ({ change, override, name }) => {
      const { before, missing, after, returned } = snapshots.get(way)!;
      expect(before.get(name)).toMatchObject(partsOf(SAME.nothing[override]));
      if (change === 'back' || change === 'removed') expect(missing.get(name)).toBeUndefined();
      if (way === 're-register swapped') {
        expectOther(after.get(name), change, before.get(name)!);
        expectSame(returned!.get(name), { change, override, name }, before.get(name)!);
      } else expectSame(after.get(name), { change, override, name }, before.get(name)!);
    });
  });
});

function expectSame(seen: Seen | undefined, { change, override, name }: Cell, before: Seen): void {
  const row = SAME[change][override];
  if (row === 'gone') return expect(seen).toBeUndefined();
  expect(seen).toEqual({
    ...partsOf(row),
    drift: DRIFTS[change]?.(name),
    id: before.id,
    trust: { value: true, origin: 'operator' },
    // A tool that now looks safer is not treated as safer until it is reviewed.
    decision: change === 'safer hint' && override !== 'cautious override' ? '----' : row.effective,
  });
}

function expectOther(seen: Seen | undefined, change: Change, before: Seen): void {
  const row = OTHER[change];
  if (row === 'gone') return expect(seen).toBeUndefined();
  expect(seen).toEqual({
    ...partsOf(row),
    drift: undefined,
    id: expect.any(String),
    trust: { value: false, origin: 'default' },
    decision: UNTRUSTED_DECISION,
  });
  expect(seen!.id).not.toBe(before.id);
}

function partsOf(row: Row | 'gone'): Row {
  if (row === 'gone') throw new Error('a tool that is gone has none of it');
  return row;
}

function original({ name }: Pick<Cell, 'name'>): JsonObject {
  return toolNamed(name, { annotations: DECLARED });
}

interface Setup {
  readonly takeSnapshots: () => Promise<ReadonlyMap<Way, Snapshot>>;
  /** Sets the tools of all four servers, before Assay reads them again. */
  readonly change: (toolOf: (cell: Cell) => JsonObject | undefined) => void;
  /** Makes Assay read each server again, by its route. */
  readonly readAgain: () => Promise<void>;
  readonly register: (server: string, entry: 'entry' | 'swapped') => Promise<void>;
}

/** Starts an Assay with a server for each route, and sets the overrides of all cells. */
async function openSetup(transport: string): Promise<Setup> {
  const open = PEERS[transport]!;
  const peers = new Map<string, Peer>();
  for (const name of Object.values(SERVERS)) peers.set(name, await open(CELLS.map(original)));
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const servers = Object.fromEntries(
    ['refreshed', 'restarted'].map((name) => [name, peers.get(name)!.entry]),
  );
  let assay!: Gateway;
  let admin!: AdminClient;
  let client!: Client;
  const start = async (): Promise<void> => {
    assay = await startGateway({ servers, home, env: { ASSAY_SERVERS_REFRESH_MS: '0' } });
    admin = adminClient(assay, token);
    await assay.settled();
    client = await connectClient({ url: assay.url }, 'legacy');
  };
  const register = async (name: string, which: 'entry' | 'swapped'): Promise<void> => {
    const gone = await admin.delete(`/gateways/${name}`);
    if (![204, 404].includes(gone.status)) throw new Error(gone.text);
    const made = await admin.post('/gateways', { name, ...peers.get(name)![which] });
    if (made.status !== 201 || at(made.json(), 'reachable') !== true) throw new Error(made.text);
  };

  await start();
  await register('again', 'entry');
  await register('swapped', 'entry');
  for (const name of peers.keys())
    expect((await admin.ask('PATCH', `/gateways/${name}`, { body: { trust: true } })).status).toBe(200);
  for (const name of peers.keys()) await setOverrides(admin, name);
  return {
    register,
    takeSnapshots: async () =>
      new Map(
        await Promise.all(
          WAYS.map(async (way) => [way, await snapshotOf(admin, client, SERVERS[way])] as const),
        ),
      ),
    change: (toolOf) => {
      for (const peer of peers.values()) peer.have(CELLS.map(toolOf).filter((tool) => tool !== undefined));
    },
    readAgain: async () => {
      expect((await admin.post('/gateways/refreshed/refresh')).status).toBe(200);
      await register('again', 'entry');
      await register('swapped', 'swapped');
      await assay.stop();
      await start();
      // After a restart, the cached tools are shown until the servers have been read and compared.
      await until('what changed is compared', async () => {
        const drifted = await toolsOf(admin, 'server=restarted&drift=any');
        return drifted.size === 3 * CHANGES.filter((change) => DRIFTS[change] !== undefined).length
          ? true
          : undefined;
      });
    },
  };
}

async function setOverrides(admin: AdminClient, server: string): Promise<void> {
  const tools = await toolsOf(admin, `server=${server}`);
  for (const { name, override } of CELLS) {
    const annotations = OVERRIDES[override];
    if (annotations === undefined) continue;
    const answer = await admin.put(`/tools/${textAt(tools.get(name), 'id')}`, { annotations });
    if (answer.status !== 200) throw new Error(answer.text);
  }
}

async function snapshotOf(admin: AdminClient, client: Client, server: string): Promise<Snapshot> {
  const listed = new Map((await client.listTools()).tools.map((tool) => [tool.name, tool]));
  const tools = await toolsOf(admin, `server=${server}`);
  expect([...tools.values()].map((tool) => textAt(tool, 'name'))).toEqual(
    [...listed.keys()].filter((name) => name.startsWith(`${server}_`)),
  );
  const entries = [...tools].map(async ([name, tool]): Promise<readonly [string, Seen]> => {
    const id = textAt(tool, 'id');
    const hints = at((await admin.get(`/tools/${id}/claims`)).json(), 'hints');
    const { annotations = {} } = listed.get(textAt(tool, 'name'))!;
    const drift = at(tool, 'drift');
    const emitted = short((hint) => annotations[hint]);
    expect(short((hint) => at(hints, hint, 'emitted'))).toBe(emitted);
    return [
      name,
      {
        claims: claimsIn(hints),
        effective: short((hint) => at(hints, hint, 'effective')),
        decision: short((hint) => at(hints, hint, 'decision')),
        emitted,
        suspends: isObject(drift) ? listAt(drift, 'suspends') : [],
        drift: isObject(drift) ? driftOf(drift) : undefined,
        id,
        trust: at(tool, 'trust'),
      },
    ];
  });
  return new Map(await Promise.all(entries));
}

function driftOf({ isDangerous = null, dangers = null, changes = null }: JsonObject): JsonObject {
  return { isDangerous, dangers, changes };
}
