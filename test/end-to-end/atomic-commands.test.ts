// What commands and configuration tools leave if their nth write fails.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../packages/gateway/src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { LOCAL_USER } from '../../packages/gateway/src/core/subject.ts';
import { mintSession, mintToken } from '../../packages/gateway/src/adapters/auth/mint-token.ts';
import type { Store } from '../../packages/gateway/src/gateway/ports/store.ts';
import { createSignInLink } from '../../packages/gateway/src/gateway/services/sign-in-links.ts';
import { createToken, revokeToken } from '../../packages/gateway/src/gateway/services/tokens.ts';
import { openInEnvironment } from '../../packages/gateway/src/app/environment.ts';
import { openLocalToolsets, type LocalToolsets } from '../../packages/gateway/src/app/local-toolsets.ts';
import { bundleOfSettings } from '../support/bundles.ts';
import { type LocalServices, openLocalServices } from '../../packages/gateway/src/app/services.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { documentedApi, PETS } from '../support/documented-api.ts';
import { endLater } from '../support/endings.ts';
import type { JsonObject } from '../support/json.ts';
import { Faults, MAX_WRITES } from '../support/nth-write.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { rawRows } from '../support/stores.ts';
import { tryStore, valueOf } from '../support/store-values.ts';
import { meet } from '../support/toolsets.ts';

endAfterEach();

interface Context {
  readonly services: LocalServices;
  readonly toolsets: LocalToolsets['toolsets'];
  readonly store: Store;
  readonly document: string;
  readonly module: string;
}

type Case = readonly [command: string, run: (context: Context) => Promise<Result<unknown, Refusal>>];

const WHO = { subject: LOCAL_USER.subject };
const BY = { by: LOCAL_USER.subject };
const TOOLSET = { name: 'one', description: undefined, tools: [], toolNotes: [] };
const BUNDLE = bundleOfSettings({ 'limits.drainMs': 7_000, 'limits.sessions': 700 });

/** In this order, as each builds on the ones before it. */
const CASES: readonly Case[] = [
  [
    'openapi',
    ({ services, document }) => services.documents.import(imported(document, { trust: false }), 'local'),
  ],
  [
    'openapi, of what is there',
    ({ services, document }) =>
      services.documents.import(imported(document, { trust: true, headers: { 'X-A': 'b' } }), 'local'),
  ],
  ['openapi, unchanged', ({ services, document }) => services.documents.import(imported(document), 'local')],
  ['openapi --remove', ({ services }) => services.servers.remove('pets', WHO)],
  [
    'rest add',
    ({ services }) =>
      services.customTools.create('made', { url: 'http://127.0.0.1:9/one', method: 'GET' }, WHO),
  ],
  ['hints --set', async ({ services }) => withMade(services, (id) => services.tools.change(id, HINTS, WHO))],
  ['rest remove', ({ services }) => withMade(services, (id) => services.customTools.remove(id, WHO))],
  ['function add', ({ services, module }) => services.functionModules.add({ module }, LOCAL_USER.subject)],
  ['function remove', ({ services, module }) => services.functionModules.remove(module, LOCAL_USER.subject)],
  [
    'import',
    ({ services }) =>
      services.bundles.import(
        { bundle: BUNDLE, apply: true, onConflict: 'replace' },
        { ...WHO, executeRefusal: undefined },
      ),
  ],
  ['toolset create', ({ toolsets }) => toolsets.create(TOOLSET, { ...BY, equip: true })],
  [
    'toolset rename',
    ({ toolsets }) =>
      toolsets.change(
        'one',
        (toolset) => ({ ok: true, value: { toolset: { ...toolset, name: 'two' }, value: 0 } }),
        LOCAL_USER.subject,
      ),
  ],
  ['toolset unequip', ({ toolsets }) => toolsets.equip(undefined, LOCAL_USER.subject)],
  ['toolset equip', ({ toolsets }) => toolsets.equip('two', LOCAL_USER.subject)],
  ['toolset delete', ({ toolsets }) => toolsets.remove('two', LOCAL_USER.subject)],
  [
    'token create',
    ({ store }) =>
      createToken(
        { name: 'ci', scopes: ['mcp'], lifetimeMs: undefined },
        { store, mint: mintToken, ...BY, nowMs: Date.now() },
      ),
  ],
  [
    'token link',
    ({ store }) =>
      createSignInLink('http://127.0.0.1:1', { store, mint: mintSession, ...BY, nowMs: Date.now() }),
  ],
  ['token revoke', ({ store }) => revokeToken('ci', { store, ...BY, nowMs: Date.now() })],
];

const HINTS = { annotations: { replaces: false, hints: { readOnlyHint: true, openWorldHint: false } } };

function imported(
  document: string,
  { trust, ...more }: JsonObject = {},
): Parameters<LocalServices['documents']['import']>[0] {
  const isTrusted = typeof trust === 'boolean' ? { trust } : {};
  return { name: 'pets', isNameGiven: true, entry: { openapi: document, ...more }, ...isTrusted };
}

async function withMade(
  services: LocalServices,
  run: (id: string) => Promise<Result<unknown, Refusal>>,
): Promise<Result<unknown, Refusal>> {
  const { tools } = await services.tools.page({ server: 'local' }, { limit: 10 });
  const made = tools.find(({ name }) => name.includes('made'));
  return made === undefined ? err({ code: 'TOOL_UNKNOWN', name: 'made' }) : run(made.id);
}

describe('a change', () => {
  it(
    'by a command is atomic, whichever of its writes fails',
    async () => {
      const home = tempDir();
      const options = { home, config: writeConfig({}) };
      const store = valueOf(await tryStore({ home, databaseUrl: undefined }));
      const services = valueOf(await openLocalServices(options));
      const { toolsets, cleanup } = valueOf(
        await openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (environment) => {
          const opened = await openLocalToolsets(environment);
          return opened.ok ? ok({ ...opened.value, cleanup: environment.cleanup }) : opened;
        }),
      );
      endLater(async () => {
        await cleanup.close();
        await services.close();
        await store.close();
      });
      const module = join(tempDir(), 'm.mjs');
      writeFileSync(module, 'export default [];\n');
      const document = (await documentedApi(PETS)).path;
      const context = { services, toolsets, store, document, module };
      const faults = new Faults({ home, databaseUrl: undefined });
      await faults.install();
      for (const [command, run] of CASES) {
        const nothing = await faults.content();
        await eachWriteFails(faults, command, async () => {
          const done = await run(context);
          return done.ok ? undefined : done.error.code;
        });
        expect([command, (await faults.content()) === nothing]).toEqual([command, false]);
      }
      const before = await faults.content();
      const absent = { ...imported('/no/such/file.json', { trust: true }), name: 'absent' };
      expect(await services.documents.import(absent, LOCAL_USER.subject)).toMatchObject({
        error: { code: 'SERVER_UNAVAILABLE' },
      });
      expect(await faults.content()).toBe(before);
    },
    scaledMs(120_000),
  );

  it(
    'by a configuration tool is atomic, whichever of its writes fails',
    async () => {
      const home = tempDir();
      const assay = await startGateway({ servers: { plain: fixture('plain') }, home });
      await assay.settled();
      const { call } = await meet({ url: `http://127.0.0.1:${assay.port}/mcp/configuration` }, 'modern');
      const faults = new Faults({ home, databaseUrl: undefined });
      await faults.install();
      const tool = { namespacedName: 'plain.echo' };
      const calls: readonly (readonly [string, JsonObject])[] = [
        ['build-toolset', { name: 'one', tools: [tool], autoEquip: true }],
        ['add-tool-annotation', { toolRef: tool, notes: [{ name: 'a', note: 'Ask first.' }] }],
        ['unequip-toolset', {}],
        ['equip-toolset', { name: 'one' }],
        ['delete-toolset', { name: 'one', confirm: true }],
      ];
      for (const [name, args] of calls)
        await eachWriteFails(faults, name, async () => {
          const { isError, text } = await call(name, args);
          return isError ? text : undefined;
        });
    },
    scaledMs(120_000),
  );
});

it('hints cannot be set on a REST tool that another process has removed', async () => {
  const home = tempDir();
  const options = { home, config: writeConfig({}) };
  const [one, two] = [valueOf(await openLocalServices(options)), valueOf(await openLocalServices(options))];
  endLater(async () => {
    await one.close();
    await two.close();
  });
  const entry = { url: 'http://127.0.0.1:9/one', method: 'GET' };
  const { id } = valueOf(await one.customTools.create('made', entry, WHO));
  await expect
    .poll(async () => (await two.tools.find(id)).ok, { timeout: scaledMs(10_000), interval: 20 })
    .toBe(true);
  valueOf(await one.customTools.remove(id, WHO));
  expect(await two.tools.change(id, HINTS, WHO)).toEqual(err({ code: 'TOOL_UNKNOWN', name: id }));
  const records = await rawRows(
    { home, databaseUrl: undefined },
    "select * from assay_records where kind = 'tool' and body_json is not null",
  );
  expect(records).toEqual([]);
});

/** Repeats until no write fails any more. `run` returns the refusal. */
async function eachWriteFails(
  faults: Faults,
  what: string,
  run: () => Promise<string | undefined>,
): Promise<void> {
  const before = await faults.content();
  for (let nth = 1; nth <= MAX_WRITES; nth += 1) {
    await faults.fail(nth);
    // A fault of the database itself is thrown, as it is unexpected.
    const refused = await run().catch((error: unknown) => String(error));
    await faults.fail(undefined);
    if (refused === undefined) {
      expect([what, nth > 1]).toEqual([what, true]);
      return;
    }
    expect([what, nth, refused]).toEqual([what, nth, expect.stringMatching(/the test says so|internal/i)]);
    expect([what, nth, await faults.content()]).toEqual([what, nth, before]);
  }
  throw new Error(`${what} is refused although none of its writes fails`);
}
