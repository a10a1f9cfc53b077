import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { untilContradicted } from '../support/hints.ts';
import { at, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';

const isLinux = process.platform === 'linux';

describe.skipIf(!isLinux)('a server with a twin that has to write when it starts', () => {
  let assay: Gateway;
  let session: LegacySession;
  const folder = tempDir();
  beforeAll(async () => {
    writeFileSync(join(folder, 'note'), 'a note');
    writeFileSync(join(folder, 'page'), 'a page');
    assay = await startGateway({
      servers: { two: fixture('twofaced', [folder], { sandbox: 'twin', env: { AT_START: 'write' } }) },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const call = (tool: string, args: JsonObject): Promise<Json> =>
    session.ask('tools/call', { name: `two_${tool}`, arguments: args });
  const look = async (args: JsonObject): Promise<string> => textOf(await call('look', args));

  it('can read with its read-only tools, and sees what was changed after its start', async () => {
    expect(await look({ do: 'read', path: 'note' })).toBe('a note');
    expect([await look({ do: 'count' }), await look({ do: 'count' })]).toEqual(['1', '2']);
    writeFileSync(join(folder, 'note'), 'changed');
    expect(await look({ do: 'read', path: 'note' })).toBe('changed');
    expect(textOf(await call('change', { do: 'replace', path: 'note' }))).toBe('replaced');
    expect(await look({ do: 'read', path: 'note' })).toBe('replaced');
    // Another process.
    expect(await look({ do: 'count' })).toBe('1');
  });

  it('may leave lock files beside its data, which are discarded', async () => {
    expect(await look({ do: 'lock', path: 'note' })).toBe('replaced');
    expect(readdirSync(folder).toSorted()).toEqual(['note', 'page', 'started']);
  });

  it('is not believed if a read-only tool has written, and the write is discarded and kept as evidence', async () => {
    const written = await call('look', { do: 'write', path: 'page' });
    expect(at(written, 'result', '_meta', 'assay/refusal')).toMatchObject({
      ...{ code: 'SANDBOX_DENIED', rights: 'read' },
      denial: { kind: 'write', target: join(folder, 'page') },
    });
    expect(await look({ do: 'read', path: 'page' })).toBe('a page');
    expect(readFileSync(join(folder, 'page'), 'utf8')).toBe('a page');
    const admin = adminClient(assay, readFileSync(join(assay.home, 'admin-token'), 'utf8').trim());
    const hint = await untilContradicted(admin, 'two', 'look');
    expect(at(hint, 'evidence', 0)).toMatchObject({ effect: 'denied', target: join(folder, 'page') });
  });
});
