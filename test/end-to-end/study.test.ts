// What the study observed of a package, at servers that Assay starts from it, and at servers that only look like it.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '@assay-mcp/kit/digest';
import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { hashInstallation } from '@assay-mcp/kit/platform/hash-installation';
import { adminClient } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json, listAt, textAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

/** Says that it is the studied server, whatever it is; lists the tools of the file TOOLS. */
const SERVER = `
let buffer = '';
process.stdin.on('data', (data) => {
  const lines = (buffer + data).split('\\n');
  buffer = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
function answer({ id, method }) {
  if (id === undefined) return;
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'studied', version: '1.2.3' } }
      : method === 'tools/list' ? { tools: JSON.parse(require('node:fs').readFileSync(process.env.TOOLS)) } : undefined;
  const reply = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\\n');
}
`;

const tool = (name: string, more = {}) => ({
  ...{ name, description: 'A tool.', inputSchema: { type: 'object' } },
  annotations: { readOnlyHint: true },
  ...more,
});
const [READS, WRITES] = [tool('reads'), tool('writes')];

/** Writes the package into `node_modules`, or elsewhere; returns its program. */
function install(place: string, { version = '1.2.3', code = SERVER } = {}): string {
  const folder = join(tempDir(), place);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'studied', version }));
  writeFileSync(join(folder, 'index.js'), code);
  return join(folder, 'index.js');
}

const INSTALLED = 'node_modules/studied';

interface Start {
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A gateway whose verdicts are about the files and definitions above, with one server. */
async function startStudied({ program = install(INSTALLED), env = {} }: Start = {}) {
  const installed = await hashInstallation(dirname(install(INSTALLED)));
  const verdict = (definition: object) => ({ digest: sha256(serializeCanonical(definition)), calls: 14 });
  const tools = {
    reads: { ...verdict(READS), consistent: ['readOnlyHint'] },
    writes: { ...verdict(WRITES), contradicted: { readOnlyHint: 'created /tmp/assay-verify/a.txt' } },
  };
  const packages = { studied: [{ version: '1.2.3', installation: installed?.digest, tools }] };
  const home = tempDir();
  // Newer than the verdicts in the build, whichever those are.
  const study = { format: 1, study: '2026-11', date: '2999-01-01', packages };
  writeFileSync(join(home, 'verdicts.json'), JSON.stringify(study));
  const list = join(home, 'tools.json');
  writeFileSync(list, JSON.stringify([READS, WRITES]));
  const entry = { command: process.execPath, args: [program], env: { TOOLS: list, ...env } };
  const settings = { approvals: 'gateway', 'limits.approvalWaitMs': 60_000 };
  const config = writeConfig({ s: entry }, { settings });
  const gateway = await startGateway({ home, config });
  await gateway.settled();
  const admin = adminClient(gateway, await keepToken(home, 'boss', { scopes: ['admin'] }));
  /** What the study says about both tools. */
  const said = async (): Promise<Json> => [
    claimsOf((await admin.get('/tools/s.reads')).json()),
    claimsOf((await admin.get('/tools/s.writes')).json()),
  ];
  return { ...{ admin, list, said, gateway }, place: ['--home', home, '--config', config] };
}

function claimsOf(shown: Json): string {
  const claims = listAt(shown, 'hints', 'readOnlyHint', 'claims');
  return claims.flatMap((claim) => (at(claim, 'source') === 'study' ? [textAt(claim, 'reason')] : [])).join();
}

const CONSISTENT = 'version 1.2.3 was seen to only read in 14 calls';
const CONTRADICTED = 'version 1.2.3 created /tmp/assay-verify/a.txt';

describe('a server that is started from the studied files', () => {
  it('is shown with what was seen; a contradiction turns the hint, a consistency lowers nothing', async () => {
    const { admin, said } = await startStudied();
    expect(await said()).toEqual([CONSISTENT, CONTRADICTED]);
    const summaries = listAt((await admin.get('/tools?summary=true')).json(), 'tools');
    const shown = summaries.map((one) => [textAt(one, 'name'), at(one, 'studied') ?? null]);
    expect(Object.fromEntries(shown)).toMatchObject({ s_reads: CONSISTENT, s_writes: null });
    const [reads, writes] = ['reads', 'writes'].map((name) =>
      summaries.find((one) => at(one, 'name') === `s_${name}`),
    );
    expect(at(reads, 'hints', 'readOnlyHint')).toMatchObject({ effective: true, decision: false });
    expect(at(writes, 'hints', 'readOnlyHint')).toMatchObject({ effective: false, isContradicted: true });
    expect((await admin.get('/gateways/s/trust')).json()).toMatchObject({
      studied: { origin: 'study of 2026-11', tools: 2, contradicted: { names: ['writes'] } },
    });
  });

  it('is shown so where a person decides: at a call that waits, by assay hints and by assay trust', async () => {
    const { admin, gateway, place } = await startStudied();
    const session = await openSession(gateway.url);
    const called = session.ask('tools/call', { name: 's_reads', arguments: {} });
    const waiting = await until('the call waits for approval', async () => {
      const found = (await admin.get('/approvals?state=pending')).json();
      return listAt(found, 'approvals')[0];
    });
    expect(listAt(waiting, 'hints').map((hint) => textAt(hint, 'reason'))).toContainEqual(
      expect.stringMatching(new RegExp(`; ${CONSISTENT}$`)),
    );
    expect((await admin.post(`/approvals/${textAt(waiting, 'id')}/deny`, {})).status).toBe(200);
    await called;
    const hints = await runAssay(['hints', 's_reads', ...place]);
    expect(hints.stdout.replaceAll(/\s+/g, ' ')).toContain(
      `observed true by study of 2026-11: ${CONSISTENT}`,
    );
    const trust = await runAssay(['trust', 's', ...place]);
    expect(`${trust.stdout}${trust.stderr}`.replaceAll(/\s+/g, ' ')).toContain(
      'The study of 2026-11 has verdicts for 2 tools of this package and contradicted 1: writes.',
    );
  });

  it('loses what was seen of a definition that it changes after it was listed', async () => {
    const { admin, list, said } = await startStudied();
    expect(await said()).toEqual([CONSISTENT, CONTRADICTED]);
    writeFileSync(list, JSON.stringify([tool('reads', { description: 'Another.' }), WRITES]));
    expect((await admin.post('/gateways/s/refresh')).status).toBe(200);
    expect(await said()).toEqual(['', CONTRADICTED]);
  });
});

describe('what only looks like the studied package', () => {
  it('a local package that calls itself like it is not taken for it at all', async () => {
    const { said } = await startStudied({ program: install('studied') });
    expect(await said()).toEqual(['', '']);
  });

  it('nor is a local package that is linked into node_modules', async () => {
    const folder = join(tempDir(), 'node_modules');
    mkdirSync(folder);
    symlinkSync(dirname(install('studied')), join(folder, 'studied'));
    const { said } = await startStudied({ program: join(folder, 'studied', 'index.js') });
    expect(await said()).toEqual(['', CONTRADICTED]);
  });

  it.each([
    ['another version', { version: '1.2.4' }],
    ['a file that was changed after the installation', { code: `${SERVER}// changed` }],
    ['other code with a forged version', { version: '1.2.3', code: `${SERVER}// other` }],
  ])('%s has no consistency; a contradiction of the same definition remains', async (_, how) => {
    const { said } = await startStudied({ program: install(INSTALLED, how) });
    expect(await said()).toEqual(['', CONTRADICTED]);
  });

  it('an entry that makes Node load other code has no consistency either', async () => {
    const { said } = await startStudied({ env: { NODE_OPTIONS: '--no-warnings' } });
    expect(await said()).toEqual(['', CONTRADICTED]);
  });
});
