import type { Drift } from '../../src/core/hints/drift.ts';
import type { ToolRecord } from '../../src/core/hints/tool-record.ts';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/core/finding.ts';
import { assignPublicNames } from '../../src/core/names.ts';
import type { ToolHintFacts, OfferFacts, ServerFacts } from '../../src/core/check-servers.ts';
import { checkDrift, checkHints, checkIsolation } from '../../src/core/check-tools.ts';
import { checkNames } from '../../src/core/list-report.ts';

function brief(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ level, about, message }) => `${level} ${about}: ${message}`);
}

function up(tools: readonly ToolHintFacts[], offered?: OfferFacts): ServerFacts {
  const condition = { kind: 'up', era: 'legacy', revision: '2025-11-25', readyAfterMs: 1 } as const;
  return {
    name: 'a',
    isolation: 'shared',
    condition: { ...condition, tools, listFaults: [], offered, twin: undefined },
    warnings: [],
  };
}

const READS: ToolHintFacts = { tool: 'reads', readOnly: true, destructive: undefined };
const WRITES: ToolHintFacts = { tool: 'writes', readOnly: false, destructive: false };
const VAGUE: ToolHintFacts = { tool: 'vague', readOnly: false, destructive: undefined };
const SILENT: ToolHintFacts = { tool: 'silent', readOnly: undefined, destructive: undefined };

describe('names', () => {
  it('are fine if all are distinct', () => {
    expect(brief(checkNames([], 3))).toEqual([
      'ok all servers: No two names collide, and no definition is withheld.',
    ]);
    expect(checkNames([], 0)).toEqual([]);
  });

  it('are checked with the reports that publicNames produces', () => {
    const { reports } = assignPublicNames([
      { server: 'a', name: 'b_c', isPrefixed: true },
      { server: 'a_b', name: 'c', isPrefixed: true },
      { server: 'a', name: 'x'.repeat(70), isPrefixed: true },
      { server: 'a', name: 'twin', isPrefixed: true },
      { server: 'a', name: 'twin', isPrefixed: true },
    ]);
    const found = checkNames(reports, 5);
    expect(found.map(({ level }) => level)).toEqual(['warning', 'warning', 'note', 'warning']);
    expect(found.map((one) => one.level !== 'ok' && one.remedy.split(' ')[0])).toEqual([
      'Rename',
      'Rename',
      'Give',
      'Report',
    ]);
  });

  it.each([
    ['withheld', 'warning'],
    ['name_hidden', 'warning'],
    ['list_limit', 'warning'],
    ['instructions_limit', 'note'],
    ['member_left_out', 'note'],
  ] as const)('with the report %s are a %s, listed once', (code, level) => {
    const report = { code, text: 'a: x differs' };
    const found = checkNames([report, report], 1);
    expect(found.map((one) => [one.level, one.message])).toEqual([[level, 'a: x differs.']]);
  });
});

describe('hints', () => {
  it('are fine if every tool declares them', () => {
    expect(brief(checkHints([up([READS, WRITES])]))).toEqual([
      'ok all servers: Every tool declares what it does.',
    ]);
  });

  it('are a note with the consequences if they are missing', () => {
    expect(brief(checkHints([up([READS, SILENT, VAGUE])]))).toEqual([
      'note a: 1 of 3 tools declares no readOnlyHint (silent); 1 of 3 tools declares no destructiveHint (vague). Clients treat these tools as dangerous and ask before each call.',
    ]);
  });

  it('are reported with the first five names if many tools lack them', () => {
    const tools = Array.from({ length: 7 }, (_, index) => ({ ...SILENT, tool: `t${index}` }));
    expect(brief(checkHints([up(tools)]))[0]).toContain(
      '7 of 7 tools declare no readOnlyHint (t0, t1, t2, t3, t4, …)',
    );
  });

  it('are not mentioned for a server without tools', () => {
    expect(checkHints([up([])])).toEqual([]);
  });
});

describe('isolation', () => {
  it('is not needed if no server asks its client for anything', () => {
    expect(brief(checkIsolation([up([], { asked: [], moreTools: [] })]))).toEqual([
      'ok all servers: No server that clients share asks its client for anything at its start.',
    ]);
  });

  it('does not matter if no capability was offered', () => {
    expect(checkIsolation([up([])])).toEqual([]);
  });

  it.each<[OfferFacts, string]>([
    [{ asked: ['roots/list'], moreTools: [] }, 'It asks its client for roots/list. '],
    [
      { asked: [], moreTools: ['x'] },
      'It lists x only to clients that support roots, sampling and elicitation.',
    ],
    [
      { asked: ['roots/list'], moreTools: ['x', 'y'] },
      'It asks its client for roots/list, and lists x, y only',
    ],
  ])('is reported for %j', (offered, message) => {
    const [found] = checkIsolation([up([], offered)]);
    expect(found?.level).toBe('note');
    expect(found?.message).toContain(message);
    expect(found?.message).toContain('A process that several clients share is offered none of that');
  });
});

describe('changed definitions', () => {
  const toolRecord = (name: string, risks: Drift['risks'], more: Partial<ToolRecord> = {}): ToolRecord => ({
    ...{ id: name, server: 's', identity: 'i', name, overrides: {} },
    drift: { digest: 'now', sinceMs: 0, changes: [], risks },
    ...more,
  });
  const lowering = { value: true, author: 'boss', atMs: 0, digest: 'before' };
  const schema = [{ code: 'input_schema' }] as const;
  const text = [{ code: 'description' }] as const;

  it('are reported with their severity, and with what is suspended', () => {
    const records = [
      toolRecord('a', schema, { overrides: { readOnlyHint: lowering } }),
      toolRecord('b', text),
      toolRecord('c', []),
    ];
    expect(checkDrift(records, 'flag')).toEqual([
      {
        check: 'hints',
        level: 'warning',
        about: 'all servers',
        message:
          '2 definitions changed since accepted, 1 in a dangerous way (s.a), and overrides of 1 of them are suspended.',
        remedy: '`assay review` shows what changed, and `assay review TOOL --accept` accepts it.',
      },
    ]);
  });

  it('in volatile text only are reported until accepted', () => {
    const volatile = (isAccepted: boolean): ToolRecord =>
      toolRecord('a', text, { volatility: { connects: 3, isAccepted } });
    expect(checkDrift([volatile(false)], 'flag').map(({ level }) => level)).toEqual(['note']);
    expect(checkDrift([volatile(true)], 'flag')).toEqual([]);
    expect(checkDrift([volatile(true)], 'suspend').map(({ level }) => level)).toEqual(['warning']);
  });
});
