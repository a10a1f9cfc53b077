import { expect, it } from 'vitest';
import { openMeter } from '../../../src/adapters/telemetry/metrics.ts';
import {
  MAX_TOOLS,
  MAX_TOOLS_PER_SERVER,
  OTHER_TOOLS,
  ToolTallies,
} from '../../../src/adapters/telemetry/tool-tallies.ts';
import { samplesIn } from '../../../../../test/support/prometheus.ts';

it('a server that renames its tools for ever gets a bounded number of labels, and no call is lost', () => {
  const tools = new ToolTallies();
  for (let at = 0; at < 5_000; at += 1) tools.of('hostile', `tool_${at}`).count('ok', 1);
  tools.of('honest', 'read').count('ok', 1);
  const hostile = tools.all().filter(({ server }) => server === 'hostile');
  expect(hostile.length).toBe(MAX_TOOLS_PER_SERVER + 1);
  expect(hostile.reduce((sum, { outcomes }) => sum + outcomes.ok.count, 0)).toBe(5_000);
  expect(hostile.at(-1)?.tool).toBe(OTHER_TOOLS);
  expect(tools.all().find(({ server }) => server === 'honest')?.tool).toBe('read');
});

it('all servers together get a bounded number of labels', () => {
  const tools = new ToolTallies();
  for (let server = 0; server < 30; server += 1)
    for (let at = 0; at < MAX_TOOLS_PER_SERVER; at += 1) tools.of(`s${server}`, `tool_${at}`).count('ok', 1);
  const all = tools.all();
  expect(all.filter(({ tool }) => tool !== OTHER_TOOLS).length).toBe(MAX_TOOLS);
  expect(all.length).toBe(MAX_TOOLS + 20);
});

it('the same tool has the same counters, and long names that begin alike share theirs', () => {
  const tools = new ToolTallies();
  expect(tools.of('a', 'x')).toBe(tools.of('a', 'x'));
  expect(tools.of('a', `${'x'.repeat(500)}1`)).toBe(tools.of('a', `${'x'.repeat(500)}2`));
  expect(tools.of('a', 'x'.repeat(500)).tool.length).toBeLessThan(140);
});

it('names with line feeds, quotes, backslashes and lone surrogates are one label on one line', async () => {
  const meter = openMeter('1');
  const names = ['a"} 1\nassay_ready 0\n', 'b\\', 'c\u0000\u001b[31m', 'd\ud800'];
  for (const name of names) meter.called('s', name, { outcome: 'ok', durationMs: 1 });
  const { text } = await meter.expose({
    ...{ servers: [], states: [], sessions: 0, connections: 0, subscriptions: 0, suspendedCalls: 0 },
    ...{
      isReady: true,
      storeFault: undefined,
      approvals: undefined,
      stops: { all_calls: 0, server: 0, tool: 0 },
    },
  });
  const samples = samplesIn(text).filter(({ name }) => name === 'assay_tool_calls_total');
  expect(samples.map(({ labels }) => labels['tool'])).toEqual([
    'a"} 1\\u000aassay_ready 0\\u000a',
    'b\\',
    'c\\u0000\\u001b[31m',
    'd\\ud800',
  ]);
  expect(text.split('\n').filter((line) => line.startsWith('assay_ready'))).toEqual(['assay_ready 1']);
});
