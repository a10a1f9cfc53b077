import { describe, expect, it } from 'vitest';
import { checkNotices } from '../../src/core/check-policy.ts';
import {
  buildNotice,
  cleanName,
  findNotifierFault,
  formatNotifier,
  parseNotifier,
} from '../../src/core/notices.ts';

const AT = {
  pagesUrl: 'https://assay.example',
  nowMs: 0,
  mask: (text: string) => text.replace('s3cret', '[masked]'),
};

describe('the setting', () => {
  it('is a URL, a program with plain words, or a JSON array', () => {
    const read = (text: string): unknown => parseNotifier(text);
    expect(read('')).toEqual({ ok: true, value: undefined });
    expect(read('https://hooks.example/T/B?x=1')).toMatchObject({ value: { kind: 'webhook' } });
    expect(read('/usr/bin/notify --to ops')).toMatchObject({
      value: { argv: ['/usr/bin/notify', '--to', 'ops'] },
    });
    expect(read('["sh", "-c", "mail $1"]')).toMatchObject({ value: { argv: ['sh', '-c', 'mail $1'] } });
  });

  it.each([
    'http://chat.example/hook',
    'https://user:pass@chat.example/',
    'https://',
    'notify "two words"',
    'notify; rm -rf /',
    'notify $HOME',
    'notify `id`',
    '[]',
    '[""]',
    '["a", 1]',
    '["a"',
    '{"a":1}',
    JSON.stringify(['a\0b']),
    JSON.stringify(['a', ...Array.from({ length: 32 }, () => 'b')]),
    `https://chat.example/${'x'.repeat(1_024)}`,
  ])('cannot be %s', (text) => {
    expect(findNotifierFault(text)).toMatch(/^it /);
  });

  it('is named without what may be secret in it', () => {
    const url = 'https://hooks.example/services/T0/B0/s3cret';
    expect(formatNotifier({ kind: 'webhook', url })).toBe('https://hooks.example');
  });
});

describe('a notice', () => {
  it('has names, a count and a link, and nothing else of a call', () => {
    const items = [
      { id: '1', server: 'linear', tool: 'linear.delete_issue' },
      { id: '2', server: 'linear', tool: 'linear.delete_issue' },
    ];
    expect(buildNotice('approvals', { items, ...AT })).toEqual({
      kind: 'approvals_waiting',
      count: 2,
      tools: ['linear.delete_issue'],
      servers: ['linear'],
      text: 'Assay: 2 calls wait for approval: linear.delete_issue. https://assay.example/admin/approvals',
      url: 'https://assay.example/admin/approvals',
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('lets a name neither mention, format nor link, nor show a secret, and bounds it', () => {
    for (const name of ['<!channel>', '@everyone', '[x](https://e.example)', '*b*', '`c`', 'a\nb', '\u202eb'])
      expect(cleanName(name)).not.toMatch(/[<>@[\]()*`\n/:\u202e]/);
    const items = Array.from({ length: 50 }, (_, at) => ({
      id: String(at),
      server: 's',
      tool: `s.${at}s3cret${'x'.repeat(500)}`,
    }));
    const notice = buildNotice('approvals', { items, ...AT });
    expect(notice.tools).toHaveLength(10);
    expect(JSON.stringify(notice)).not.toContain('s3cret');
    expect(notice.text.length).toBeLessThan(1_200);
  });

  it('tells servers that are up again', () => {
    const down = buildNotice('servers', { items: [{ id: 'a', server: 'a' }], recovered: ['b'], ...AT });
    expect(down).toMatchObject({ kind: 'servers_down', servers: ['a'], recovered: ['b'] });
    expect(down.text).toBe(
      'Assay: down for 5 minutes: a. Assay: up again: b. https://assay.example/admin/servers',
    );
    expect(buildNotice('servers', { items: [], recovered: ['b'], ...AT }).kind).toBe('servers_recovered');
  });
});

it('doctor finds a missing program and a missing public URL', () => {
  const facts = { setting: 'approvals.notify', target: 'notify' } as const;
  const levels = (isFound: boolean, hasPublicUrl: boolean): readonly string[] =>
    checkNotices([{ ...facts, kind: 'command', isFound, hasPublicUrl }]).map(({ level }) => level);
  expect(levels(true, true)).toEqual([]);
  expect(levels(false, false)).toEqual(['problem', 'warning']);
});
