// One list of secrets: what is recognized in one place is recognized in all.
import { expect, it } from 'vitest';
import { maskArgs } from '../../../src/core/secrets/masked-command.ts';
import { Secrets } from '../../../src/core/secrets/secrets.ts';
import { openLog } from '../../../src/adapters/telemetry/log.ts';
import { findSecretMembers } from '../../../src/adapters/telemetry/secret-members.ts';
import { toConnectionView } from '../../../src/gateway/services/servers/server-view.ts';
import { maskArguments } from '../../../src/adapters/telemetry/shown-arguments.ts';

const A = 'a1B2c3D4e5F6g7H8';
const HEX = '0123456789abcdef0123456789abcdef';

/** The secret part of each text, which is made up. */
const SAMPLES: readonly (readonly [text: string, secret: string])[] = [
  ...[
    `assay_0a1b2c3d4e5f_${A}${A}`,
    `ghp_${A}${A}`,
    `gho_${A}${A}`,
    `ghu_${A}${A}`,
    `ghs_${A}${A}`,
    `ghr_${A}${A}`,
    `github_pat_${A}${A}`,
    `glpat-${A}${A}`,
    `sk-${A}${A}`,
    `sk-ant-api03-${A}${A}`,
    `sk-proj-${A}${A}`,
    `sk_live_${A}${A}`,
    `sk_test_${A}${A}`,
    `rk_live_${A}${A}`,
    `pk_12345678_${A.toUpperCase()}`,
    `whsec_${A}${A}`,
    'xoxb-123456789012-1234567890123-abcdef',
    'xoxp-123456789012-1234567890123-abcdef',
    'xapp-1-A012345-1234567890-abcdef',
    'AKIAIOSFODNN7EXAMPLE',
    'ASIAIOSFODNN7EXAMPLE',
    `AIza${A}${A}abc`,
    `npm_${A}${A}`,
    `hf_${A}${A}`,
    `sbp_${HEX}`,
    `shpat_${HEX}`,
    `shpss_${HEX}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${A}`,
  ].map((secret) => [secret, secret] as const),
  ['Bearer opaque-to-all', 'opaque-to-all'],
  [`Basic ${Buffer.from('ada:hunter2hunter2').toString('base64')}`, 'YWRhOmh1bnRlcjJodW50ZXIy'],
  ['postgres://ada:hunter2hunter2@db.example/x', 'hunter2hunter2'],
  ['https://api.example/x?access_token=hunter2hunter2', 'hunter2hunter2'],
  ['https://api.example/x?key=hunter2hunter2', 'hunter2hunter2'],
  ['https://bucket.example/x?X-Amz-Signature=hunter2hunter2', 'hunter2hunter2'],
  ['--api-key=hunter2hunter2', 'hunter2hunter2'],
  ['--password=hunter2hunter2', 'hunter2hunter2'],
  ['GITHUB_TOKEN=hunter2hunter2', 'hunter2hunter2'],
  ['CLIENT_SECRET=hunter2hunter2', 'hunter2hunter2'],
  ['SENTRY_DSN=hunter2hunter2', 'hunter2hunter2'],
  ['{"apiKey":"hunter2hunter2"}', 'hunter2hunter2'],
];

const PLACES: Readonly<Record<string, (text: string) => string>> = {
  'an import': (text) => maskArgs(['server', text]).join(' '),
  'the log': (text) => {
    const lines: string[] = [];
    const mask = (line: string): string => new Secrets().mask(line);
    const log = openLog({ level: 'info', terminal: undefined, mask, write: (line) => lines.push(line) });
    log.info(`it said ${text}`, { text });
    return lines.join('');
  },
  // What a server says in an error, and what pages and REST show of it.
  'an error': (text) => new Secrets().mask(`the server ended: ${text}`),
  // What pages, REST and the audit log show of a server.
  'the view of a server': (text) => {
    const transport = { kind: 'stdio', command: 'x', args: [text], cwd: '/', env: { A: text } } as const;
    const spec = { name: 'a', transport, timeoutMs: 1, prefix: true, isolation: 'shared' } as const;
    return JSON.stringify(toConnectionView(spec, (shown) => new Secrets().mask(shown)));
  },
  'recorded arguments': (text) =>
    maskArguments(JSON.stringify({ command: text }), (shown) => new Secrets().mask(shown)).text,
};

it('there are forty samples, all different', () => {
  expect(new Set(SAMPLES.map(([text]) => text)).size).toBe(40);
});

it.each(Object.entries(PLACES))('%s shows none of them', (_place, shown) => {
  expect(SAMPLES.filter(([text, secret]) => shown(text).includes(secret))).toEqual([]);
});

it('an export treats entries that contain one as secret', () => {
  const found = SAMPLES.filter(([text]) => {
    const transport = { kind: 'stdio', command: 'x', args: [text], cwd: '/', env: {} } as const;
    const spec = { name: 'a', transport, timeoutMs: 1, prefix: true, isolation: 'shared' } as const;
    return !findSecretMembers({ command: 'x', args: [text] }, spec).includes('args');
  });
  expect(found).toEqual([]);
});
