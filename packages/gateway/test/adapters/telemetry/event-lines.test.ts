import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { ACCESS_EVENT, CHANGE_EVENT, DECISION_EVENT, EVENT_LINE } from '../../../src/api/event-line.ts';
import type { FinishedCall } from '../../../src/core/activity/call-entry.ts';
import { EventLines, formatEventLine, MAX_WAITING } from '../../../src/adapters/telemetry/event-lines.ts';

const PAGE = readFileSync(new URL('../../../../../docs/EVENTS.md', import.meta.url), 'utf8');

function openLines(write: (events: readonly JsonObject[]) => boolean = () => true) {
  const state = { events: [] as JsonObject[], dropped: 0 };
  const lines = new EventLines({
    sink: {
      write: (events) => {
        const isDone = write(events);
        if (isDone) state.events.push(...events);
        return Promise.resolve(isDone);
      },
    },
    instance: 'host:1',
    mask: (text) => text.replaceAll('hunter2', '***'),
    nowMs: () => Date.UTC(2026, 0, 2),
    onDropped: (count) => (state.dropped += count),
  });
  return { lines, state };
}

const ACCESS = {
  ...{
    requestId: 'r',
    client: '127.0.0.1',
    method: 'GET',
    path: '/x',
    status: 200,
    bytes: 10,
    durationMs: 1,
  },
};
const CALL: FinishedCall = {
  ...{ subject: 'ada', sessionId: 'secret-session', client: '{"name":"c","version":"1"}', endpoint: '/mcp' },
  ...{ toolset: undefined, labels: undefined, publicName: 'x_y', tool: undefined, toolId: undefined },
  decision: { kind: 'refuse', reasons: [{ code: 'rule', rule: 'r' }] } as never,
  approval: { id: 'a1', by: 'boss', scope: 'once' },
  denial: { id: 'd1', by: 'boss', reason: 'because hunter2' },
  outcome: 'CALL_REFUSED',
  durationMs: 12.3456,
  ...{ argumentsText: '{"secret":"arguments"}', argumentsBytes: 22 },
};

describe('event lines', () => {
  it('follow their schemas, and contain neither arguments, session ids nor reasons for the model', async () => {
    const { lines, state } = openLines();
    lines.access({ ...ACCESS, subject: 'ada', isAborted: true });
    lines.change(
      {
        id: 7,
        subject: 'ada',
        action: 'tool.update',
        target: { kind: 'tool', id: 't', name: 'x.y' },
        changed: ['enabled'],
      },
      Date.UTC(2026, 0, 1),
    );
    lines.decision(CALL);
    await lines.close();
    const texts = state.events.map(formatEventLine);
    for (const text of texts) expect(EVENT_LINE.safeParse(JSON.parse(text)).error).toBeUndefined();
    expect(state.events[1]).toEqual({
      ...{ v: 1, event: 'change', at: '2026-01-01T00:00:00.000Z', instance: 'host:1', id: 7 },
      ...{ subject: 'ada', action: 'tool.update', changed: ['enabled'] },
      target: { kind: 'tool', id: 't', name: 'x.y' },
    });
    expect(state.events[2]).toMatchObject({ event: 'decision', outcome: 'CALL_REFUSED', durationMs: 12.3 });
    expect(texts.join('')).not.toMatch(/arguments|secret|because|hunter2/);
    expect(state.dropped).toBe(0);
  });

  it('stay one line of valid JSON whatever peers write, with secrets masked', async () => {
    const { lines, state } = openLines();
    const hostile = 'a\n{"event":"access"}\r\u2028\u001b[2J\u0000\u202e"\\\ud800 hunter2';
    lines.access({ ...ACCESS, path: hostile, subject: hostile });
    lines.decision({
      ...CALL,
      subject: hostile,
      publicName: hostile,
      client: '{"name":"\\u001b\\ud800\\n"}',
    });
    await lines.close();
    for (const event of state.events) {
      const line = formatEventLine(event);
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
      expect(line).not.toMatch(/hunter2|\\ud[89a-f]/i);
      expect(EVENT_LINE.safeParse(JSON.parse(line)).success).toBe(true);
    }
    expect(state.events.length).toBe(2);
  });

  it('wait in a bounded number while they cannot be written, then are written in order', async () => {
    let isWritable = false;
    const { lines, state } = openLines(() => isWritable);
    for (let at = 0; at < MAX_WAITING.access + 500; at += 1) lines.access({ ...ACCESS, status: at });
    expect(state.dropped).toBe(500);
    isWritable = true;
    await lines.close();
    expect(state.events.length).toBe(MAX_WAITING.access);
    expect(state.events.map(({ status }) => status)).toEqual(
      Array.from({ length: MAX_WAITING.access }, (_, at) => at),
    );
  });

  it('of requests leave room for those of calls, and both for those of changes', async () => {
    let isWritable = false;
    const { lines, state } = openLines(() => isWritable);
    for (let count = 0; count < 10_000; count += 1) lines.access(ACCESS);
    for (let count = 0; count < 10_000; count += 1) lines.decision(CALL);
    for (let id = 0; id < 1_000; id += 1)
      lines.change({ id, subject: 'ada', action: 'a', target: undefined, changed: undefined } as never, 0);
    isWritable = true;
    await lines.close();
    const count = (kind: string): number => state.events.filter(({ event }) => event === kind).length;
    expect([count('access'), count('decision'), count('change')]).toEqual([5_000, 4_000, 1_000]);
    expect(state.dropped).toBe(11_000);
  });

  it('count what is left when they close', async () => {
    const { lines, state } = openLines(() => false);
    for (let at = 0; at < 250; at += 1) lines.access(ACCESS);
    await lines.close();
    lines.access(ACCESS);
    expect([state.events.length, state.dropped]).toEqual([0, 251]);
  });
});

it('docs/EVENTS.md describes each member of each event', () => {
  for (const [title, schema] of [
    ['access', ACCESS_EVENT],
    ['change', CHANGE_EVENT],
    ['decision', DECISION_EVENT],
  ] as const) {
    const section = PAGE.split(`\n## \`${title}\`\n`)[1]?.split('\n## ')[0] ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    const { properties = {}, required = [] } = z.toJSONSchema(schema);
    const expected = Object.entries(properties).map(([name, property]) => {
      const { type, description, const: constant } = property as z.core.JSONSchema.BaseSchema;
      const shown = constant === undefined ? String(type) : JSON.stringify(constant);
      return `| \`${name}\` | ${shown} | ${required.includes(name) ? 'yes' : 'no'} | ${description ?? ''} |`;
    });
    expect(rows).toEqual(expected.map((row) => row.replace('|  |', '| |')));
  }
});
