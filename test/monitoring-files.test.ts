import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../packages/gateway/src/adapters/telemetry/samples.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly runbook?: string };
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly datasource?: unknown;
}

const RULES = (
  load(read('deploy/prometheus/assay.rules.yml')) as { groups: readonly { rules: readonly Rule[] }[] }
).groups.flatMap(({ rules }) => rules);
const DASHBOARD = JSON.parse(read('deploy/grafana/assay.json')) as {
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
};
const PANELS = DASHBOARD.panels.filter(({ type }) => type !== 'row');
const RECORDED = new Set(RULES.flatMap(({ record }) => (record === undefined ? [] : [record])));

const EXPRESSIONS: readonly (readonly [where: string, expression: string])[] = [
  ...RULES.map(({ record, alert, expr }) => [record ?? alert ?? '', expr] as const),
  ...PANELS.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...DASHBOARD.templating.list.flatMap(({ name, definition }) =>
    definition === undefined ? [] : [[name, definition] as const],
  ),
];

/** The labels that each exposed series has, by its name in expressions. */
const SERIES = new Map<string, readonly string[]>([
  ...METRICS.flatMap(({ name, type, labels }): (readonly [string, readonly string[]])[] =>
    type === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((suffix) => [`${name}${suffix}`, labels] as const)
      : [[name, labels]],
  ),
  ['up', []],
  ['process_resident_memory_bytes', []],
  ['process_cpu_seconds_total', []],
]);

const SELECTOR = /\b(up|(?:assay|process)_\w+|assay:[\w:]+)\b(?:\{([^}]*)\})?/g;

describe('dashboard and rules', () => {
  it('name only metrics and labels that are exposed, or recorded by the rules', () => {
    const faults = EXPRESSIONS.flatMap(([where, expression]) =>
      [...expression.matchAll(SELECTOR)].flatMap(([, name = '', matchers = '']) => {
        if (RECORDED.has(name)) return [];
        const labels = SERIES.get(name);
        if (labels === undefined) return [`${where}: ${name}`];
        const used = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
        const known = new Set([...labels, 'job', 'instance']);
        return used.filter((label) => !known.has(label)).map((label) => `${where}: ${name}{${label}}`);
      }),
    );
    expect(faults).toEqual([]);
    expect(EXPRESSIONS.length).toBeGreaterThan(50);
  });

  it('show every metric on the dashboard, except that of servers that are up, since idle ones are well too', () => {
    const shown = PANELS.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    expect(METRICS.map(({ name }) => name).filter((name) => !shown.includes(name))).toEqual([
      'assay_server_up',
    ]);
  });

  it('use the chosen data source in every panel', () => {
    expect(DASHBOARD.templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource' });
    for (const { title, datasource } of PANELS)
      expect([title, datasource]).toEqual([title, { type: 'prometheus', uid: '${datasource}' }]);
  });

  it('give each alert a time, a severity, a summary and a heading of the runbook', () => {
    const headings = [...read('docs/RUNBOOK.md').matchAll(/^#{2,3} (.+)$/gm)].map(
      ([, heading = '']) => `docs/RUNBOOK.md#${toAnchor(heading)}`,
    );
    const alerts = RULES.filter(({ alert }) => alert !== undefined);
    expect(alerts.length).toBeGreaterThan(8);
    for (const { alert, for: wait, labels, annotations } of alerts) {
      expect([alert, wait]).toEqual([alert, expect.stringMatching(/^\d+m$/)]);
      expect([alert, labels?.severity]).toEqual([alert, expect.stringMatching(/^(?:critical|warning)$/)]);
      expect([alert, annotations?.summary]).toEqual([alert, expect.stringMatching(/\.$/)]);
      expect(headings).toContain(annotations?.runbook);
    }
  });

  it.skipIf(spawnSync('promtool', ['--version']).error !== undefined)(
    'are accepted by promtool, whose unit tests of the rules pass',
    () => {
      const run = (...args: readonly string[]) => {
        const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
        return { status, output: status === 0 ? '' : stdout + stderr };
      };
      const folder = new URL('../deploy/prometheus/', import.meta.url).pathname;
      const passed = { status: 0, output: '' };
      expect(run('check', 'rules', `${folder}assay.rules.yml`)).toEqual(passed);
      expect(run('test', 'rules', `${folder}assay.rules.test.yml`)).toEqual(passed);
    },
  );
});

function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}
