import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serverIn, startAssay, type Assay } from '../support/assay.ts';
import { until, untilLogged } from '../support/endings.ts';
import { at, namesAt, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, openEventLog, tempDir } from '../support/paths.ts';

const DEPTH = 300;

async function serving(
  mode: string,
  args: readonly string[] = [],
): Promise<{ assay: Assay; session: LegacySession; asked: (method: string) => number }> {
  const eventLog = openEventLog();
  const assay = await startAssay({
    servers: {
      odd: fixture('lister', [`--mode=${mode}`, ...args], { env: eventLog.env }),
      plain: fixture('plain'),
    },
  });
  return { assay, session: await openSession(assay.url), asked: (method) => eventLog.countOf(method) };
}

/** The names of the odd server's entries, as the client sees them. */
async function names(session: LegacySession, kind: 'tools' | 'prompts'): Promise<readonly string[]> {
  const listed = namesAt(await session.ask(`${kind}/list`), 'result', kind);
  return listed.filter((name) => name.startsWith('odd_'));
}

describe('a server', () => {
  it('that announces a change while it starts is read again', async () => {
    const { assay, session } = await serving('early-change');
    await assay.settled();
    await until('the second tool is there', async () =>
      (await names(session, 'tools')).includes('odd_second') ? true : undefined,
    );
    expect(await names(session, 'tools')).toEqual(['odd_first', 'odd_second']);
  });

  it('whose prompts never arrive shows its tools within about 5 s, and calls them', async () => {
    const { assay, session } = await serving('prompts-hang');
    await until(
      'its tool is there',
      async () => ((await names(session, 'tools')).includes('odd_echo') ? true : undefined),
      8_000,
    );
    expect(await session.call('odd_echo', { a: 1 })).toBe('{"a":1}');
    expect(at(serverIn(await assay.health(), 'odd'), 'state')).toBe('up');
    expect(namesAt(await session.ask('prompts/list'), 'result', 'prompts')).toEqual(['plain_greet']);
  });

  it('whose tools cannot be listed yet is asked again, and not cached as one without tools', async () => {
    const ready = join(tempDir(), 'ready');
    const { assay, session } = await serving('tools-late', [`--ready=${ready}`]);
    await assay.settled();
    expect(await names(session, 'tools')).toEqual([]);
    const remembered = join(assay.home, 'catalog.json');
    // Remembered as absent, so that the next start does not wait for it; not with empty lists.
    await until('it is remembered as absent', () =>
      existsSync(remembered) && /"name":"odd",[^{}]*"isAbsent":true\}/.test(readFileSync(remembered, 'utf8'))
        ? true
        : undefined,
    );
    writeFileSync(ready, '');
    await until('its tool is there', async () =>
      (await names(session, 'tools')).includes('odd_echo') ? true : undefined,
    );
    await until('it is remembered, too', () =>
      readFileSync(remembered, 'utf8').includes('"name":"odd"') ? true : undefined,
    );
  });

  it('whose tools cannot be listed shows its prompts, and /health and the log say why', async () => {
    const { assay, session } = await serving('tools-error');
    const health = await assay.settled();
    const cause = 'tools/list failed: -32603 no tools today';
    expect(serverIn(health, 'odd')).toEqual({
      name: 'odd',
      state: 'up',
      era: 'legacy',
      revision: '2025-11-25',
      listFaults: [{ list: 'tools', cause, causeCode: 'LIST_REFUSED' }],
    });
    expect(at(health, 'status')).toBe('degraded');
    await untilLogged(assay, cause);
    expect(assay.stdout()).toContain(cause);
    expect(await names(session, 'prompts')).toEqual(['odd_greet']);
    expect(await names(session, 'tools')).toEqual([]);
    expect(await session.call('plain_label')).toBe('plain');
  });

  it('with a repeated cursor ends its list there', async () => {
    const { assay, session, asked } = await serving('cursor-repeats');
    await assay.settled();
    expect(await names(session, 'tools')).toEqual(['odd_one', 'odd_two']);
    expect(asked('tools/list')).toBe(2);
  });

  it('with a tool nested 300 deep shows the others, and /health says why that one is withheld', async () => {
    const { assay, session } = await serving('deep');
    const health = await assay.settled();
    expect(await names(session, 'tools')).toEqual(['odd_before', 'odd_after']);
    const modern = namesAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools');
    expect(modern.filter((name) => name.startsWith('odd_'))).toEqual(['odd_before', 'odd_after']);
    expect(JSON.stringify(health)).toMatch(/odd: abyss is withheld[^"]*nest/);
    const refused = at(await session.ask('tools/call', { name: 'odd_abyss', arguments: {} }), 'error');
    expect(at(refused, 'data', 'code')).toBe('TOOL_WITHHELD');
  });

  it('may answer with a result nested 300 deep', async () => {
    const { assay, session } = await serving('deep');
    await assay.settled();
    const params = { name: 'odd_before', arguments: {} };
    for (const answer of [
      await session.ask('tools/call', params),
      await modernAsk(assay.url, 'tools/call', { params }),
    ]) {
      expect(at(answer, 'error')).toBeUndefined();
      expect(depthOf(at(answer, 'result', 'structuredContent', 'deep'))).toBe(DEPTH);
      expect(at(answer, 'result', 'content', 0, 'text')).toBe('deep');
    }
  });
});

function depthOf(value: Json | undefined): number {
  let depth = 0;
  for (let here = value; here !== 'bottom'; here = at(here, 'a')) {
    if (here === undefined) throw new Error(`No bottom after ${depth} steps`);
    depth++;
  }
  return depth;
}
