import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { at, namesAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir, writeText } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const LATE_MS = scaledMs(4_000);

describe('a warm start', () => {
  let home: string;
  let file: string;
  let servers: JsonObject;
  const tell = (told: JsonObject): void => {
    writeFileSync(file, JSON.stringify(told));
  };
  const catalog = (): string => readFileSync(join(home, 'catalog.json'), 'utf8');
  const open = (): LinePeer => openStdio({ servers, home });
  const tools = async (pipe: LinePeer): Promise<readonly string[]> =>
    namesAt(await pipe.ask('tools/list'), 'result', 'tools');

  beforeEach(async () => {
    home = tempDir();
    file = writeText('', 'told.json');
    servers = { told: fixture('told', [`--file=${file}`], { env: { SECRET: 'correct-horse-battery' } }) };
    tell({ tools: ['one', 'two'] });
    const first = open();
    await first.initialize();
    expect(await tools(first)).toEqual(['told_one', 'told_two']);
    await first.stop();
  });

  it('lists the previous tools before servers are ready, and lets calls wait for them', async () => {
    tell({ tools: ['one', 'two'], lateMs: LATE_MS });
    const pipe = open();
    const greeting = await pipe.initialize();
    expect(at(greeting, 'result', 'instructions')).toContain('As told.');
    expect(at(greeting, 'result', 'capabilities')).toEqual({ tools: { listChanged: true } });
    const startMs = Date.now();
    expect(await tools(pipe)).toEqual(['told_one', 'told_two']);
    expect(Date.now() - startMs).toBeLessThan(LATE_MS / 2);
    expect(await pipe.call('told_one')).toMatch(/^one of /);
    expect(Date.now() - startMs).toBeGreaterThan(LATE_MS / 4);
  });

  it('announces changed tools once, and nothing if they are unchanged', async () => {
    const isChange = (message: Json): boolean => at(message, 'method') === 'notifications/tools/list_changed';
    tell({ tools: ['two', 'three'], lateMs: 2_000 });
    const changed = open();
    await changed.initialize();
    expect(await tools(changed)).toEqual(['told_one', 'told_two']);
    await changed.next('the change', isChange);
    expect(await tools(changed)).toEqual(['told_two', 'told_three']);
    expect(at(await changed.ask('tools/call', { name: 'told_one' }), 'error', 'data', 'code')).toBe(
      'TOOL_UNKNOWN',
    );
    await changed.stop();

    const same = open();
    await same.initialize();
    expect(await tools(same)).toEqual(['told_two', 'told_three']);
    expect(await same.call('told_two')).toMatch(/^two of /);
    await same.stop();
    expect(
      [...changed.lines(), ...same.lines()].filter((line) => line.includes('list_changed')),
    ).toHaveLength(1);
  });

  it('lists the previous tools over HTTP too', async () => {
    tell({ tools: ['one', 'two'], lateMs: LATE_MS });
    const assay = await startGateway({ servers, home });
    const session = await openSession(assay.url);
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toEqual(['told_one', 'told_two']);
    expect(at(await assay.health(), 'servers', 0, 'state')).toBe('starting');
  });

  it('ignores the cache of a different server under the same name', async () => {
    const other = writeText(JSON.stringify({ tools: ['other'] }), 'other.json');
    servers = { told: fixture('told', [`--file=${other}`]) };
    const pipe = open();
    await pipe.initialize();
    expect(await tools(pipe)).toEqual(['told_other']);
  });

  it.each([
    ['truncated', (text: string) => text.slice(0, -200)],
    ['inconsistent with its hash', (text: string) => text.replace('told', 'tolt')],
    ['in another format', (text: string) => text.replace(/"format":\d+/, '"format":999')],
    ['empty', () => ''],
  ])('ignores a catalog file that is %s, and writes a new one', async (_what, damage) => {
    writeFileSync(join(home, 'catalog.json'), damage(catalog()));
    tell({ tools: ['new'] });
    const pipe = open();
    await pipe.initialize();
    expect(await tools(pipe)).toEqual(['told_new']);
    await until('the file is written anew', () => (catalog().includes('new') ? true : undefined));
  });

  it('stores no environment values in the catalog file, which only its user can read', () => {
    expect(catalog()).not.toContain('correct-horse-battery');
    expect(catalog()).not.toContain(file);
    expect(statSync(join(home, 'catalog.json')).mode & 0o777).toBe(0o600);
  });
});
