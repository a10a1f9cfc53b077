// `assay export` and `assay import FILE`, as their users type them.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import {
  bundleWith,
  countsOf,
  exportOf,
  lasting,
  makeEverything,
  openInstance,
  PASSPHRASE,
  SECRETS,
} from '../support/bundles.ts';
import { at, listAt, parseJson, textAt, type JsonObject } from '../support/json.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { tempDir, writeConfig } from '../support/paths.ts';

const NOTHING = { create: 0, update: 0, unchanged: 0, kept: 0, omitted: 0 };

function operator(
  home = tempDir(),
  config = writeConfig({}),
): (args: readonly string[], env?: Readonly<Record<string, string>>) => ReturnType<typeof runAssay> {
  return (args, env = {}) => runAssay(args, { env: { ASSAY_HOME: home, ASSAY_CONFIG: config, ...env } });
}

/** The config file of the gateway that runs with this home. */
function servedConfig(home: string): string {
  return textAt(parseJson(readFileSync(join(home, 'serve.json'), 'utf8')), 'configPath');
}

it('carry everything from one home to another, next to a running Assay', async () => {
  const full = await openInstance();
  await makeEverything(full);
  const folder = tempDir();
  const [file, key] = [join(folder, 'assay.json'), join(folder, 'key')];
  writeFileSync(key, `${PASSPHRASE}\n`);
  const run = operator(full.home, servedConfig(full.home));
  const written = await run(['export', '--file', file, '--passphrase-file', key]);
  expect([written.code, written.stdout, written.stderr]).toEqual([0, '', `Wrote "${file}".\n`]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const bundle = parseJson(readFileSync(file, 'utf8'));
  expect(lasting(bundle)).toEqual(await exportOf(full));

  const there = operator();
  const dry = await there(['import', file, '--passphrase-file', key]);
  expect([dry.code, dry.stdout.trim().split('\n').at(-1)]).toEqual([
    0,
    '13 to create, 0 to update, 0 unchanged.',
  ]);
  expect(dry.stdout).toMatch(/gateway +far +create/);
  expect(dry.stderr).toContain('Nothing was changed; --apply does it.\n');
  const done = await there(['import', file, '--apply', '--json'], { ASSAY_PASSPHRASE: PASSPHRASE });
  expect([done.code, countsOf(parseJson(done.stdout))]).toEqual([0, { ...NOTHING, create: 13 }]);
  const again = await there(['import', file, '--passphrase-file', key]);
  expect([again.code, again.stdout, again.stderr]).toEqual([
    0,
    '0 to create, 0 to update, 13 unchanged.\n',
    '',
  ]);
  const back = await there(['export']);
  expect([back.code, lasting(parseJson(back.stdout))]).toEqual([0, lasting(bundle)]);
  expect(back.stderr).toBe(
    'The secrets of 4 sources are left out; with a passphrase they are sealed in it.\n',
  );
  const told = [dry, done, again, back].flatMap(({ stdout, stderr }) => [stdout, stderr]).join('\n');
  expect(SECRETS.filter((secret) => told.includes(secret))).toEqual([]);
});

it('take effect in an Assay running on the same home', async () => {
  const running = await openInstance();
  const run = operator(running.home, servedConfig(running.home));
  const file = join(tempDir(), 'bundle.json');
  const toolset = { name: 'fresh', createdMs: 0, changedMs: 1, tools: [], toolNotes: [] };
  writeFileSync(file, JSON.stringify(bundleWith({ toolset: [toolset], equipped: [{ toolset: 'fresh' }] })));
  expect((await run(['import', file, '--apply'])).code).toBe(0);
  await expect
    .poll(async () => at((await running.admin.get('/toolsets')).json(), 'toolsets', 0, 'isEquipped'), {
      timeout: scaledMs(5_000),
    })
    .toBe(true);
});

it('refuse what cannot be imported, with their exit codes, and change nothing', async () => {
  const run = operator();
  const folder = tempDir();
  const file = (name: string, value: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  const before = lasting(parseJson((await run(['export'])).stdout));
  const newer = await run(['import', file('newer.json', { assay: 2, records: [] }), '--apply']);
  expect([newer.code, newer.stdout, newer.stderr]).toEqual([
    2,
    '',
    'assay: bundle.assay: this Assay reads only version 1\n',
  ]);
  const older = await run(['import', file('older.json', { assay: 1, gateways: [] }), '--apply']);
  expect([older.code, older.stderr]).toEqual([
    2,
    'assay: bundle.records: it is missing. Bundles of earlier builds are not read: export it again with this one\n',
  ]);
  const short = await run(['export'], { ASSAY_PASSPHRASE: 'short' });
  expect([short.code, short.stderr]).toEqual([2, 'assay: passphrase: it must have at least 12 characters\n']);
  expect((await run(['export', '--passphrase-file', join(folder, 'none')])).code).toBe(3);
  // Anything but a bundle is treated as before: as the config file of another client.
  const other = await run([
    'import',
    file('mcp.json', { mcpServers: { far: { url: 'http://127.0.0.1:9/' } } }),
    '--dry-run',
    '--json',
  ]);
  expect([other.code, listAt(parseJson(other.stdout), 'servers').map((one) => at(one, 'name'))]).toEqual([
    0,
    ['far'],
  ]);
  expect(lasting(parseJson((await run(['export'])).stdout) as JsonObject)).toEqual(before);
});
