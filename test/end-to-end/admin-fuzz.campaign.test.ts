import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../packages/gateway/src/core/settings.ts';
import { rounds } from '../support/campaign.ts';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

let assay: Gateway;
let admin: AdminClient;
beforeAll(async () => {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startGateway({ servers: { plain: fixture('plain') }, home });
  admin = adminClient(assay, token);
  for (const name of ['one', 'two']) await admin.post('/toolsets', { name, tools: ['plain.echo'] });
});

/** All that a request could change. */
async function state(): Promise<string> {
  const paths = ['/tokens?limit=1000', '/toolsets?limit=1000', '/preferences', '/activity?limit=1'];
  const answers = await Promise.all(paths.map((path) => admin.get(path)));
  return answers.map(({ text }) => text).join('\n');
}

const NAMES: readonly string[] = ['one', 'two', 'new-one', 'all', 'x', 'plain.echo', 'plain.label', ''];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/tokens': ['name', 'scopes', 'expiresIn', 'expires_at', 'token', '__proto__'],
  '/toolsets': ['name', 'description', 'tools', 'equip', 'toolset', 'constructor'],
  '/toolsets/one': ['name', 'description', 'tools', 'is_equipped', 'toolNotes', 'toolset'],
  '/preferences': [...Object.keys(SETTINGS).slice(0, 8), 'limits.drain_ms', 'preferences'],
};

/** Values that come near to being right, and any others. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...NAMES,
    null,
    true,
    0,
    1,
    -1,
    1e308,
    '30d',
    '2030-01-01T00:00:00Z',
    '\u0000',
    '\ud800',
  ),
  fc.array(fc.constantFrom<unknown>('admin', 'read', 'execute', 'plain.echo', {}, null, { refId: '0' }), {
    maxLength: 4,
  }),
  fc.jsonValue({ maxDepth: 4 }),
);

function bodyFor(fields: readonly string[]): fc.Arbitrary<string> {
  const object = fc
    .array(
      fc.tuple(
        fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...fields) }, { weight: 1, arbitrary: fc.string() }),
        value,
      ),
      { maxLength: 5 },
    )
    .map(
      (pairs) => `{${pairs.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`).join(',')}}`,
    );
  const wrapped = fc
    .tuple(fc.constantFrom(...fields), object)
    .map(([key, text]) => `{${JSON.stringify(key)}:${text}}`);
  return fc.oneof(
    { weight: 6, arbitrary: object },
    { weight: 3, arbitrary: wrapped },
    { weight: 1, arbitrary: value.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.string() },
  );
}

describe('any body', () => {
  it.each([
    ['POST', '/tokens'],
    ['POST', '/toolsets'],
    ['PUT', '/toolsets/one'],
    ['PUT', '/preferences'],
  ])('%s %s is answered properly, and changes nothing if refused', async (method, path) => {
    let before = await state();
    await fc.assert(
      fc.asyncProperty(bodyFor(FIELDS[path]!), async (body) => {
        const answer = await admin.ask(method, path, { body });
        const now = await state();
        if (answer.status < 400) {
          // The next ones find it again.
          before = now;
          if (path === '/toolsets/one')
            await admin.put(`/toolsets/${String(nameIn(answer.text))}`, { name: 'one' });
          before = await state();
          return;
        }
        expect(verdictOf(answer)).toMatch(/^(?:(?:400|404|409|413|415|422) [A-Z_]+|403 SETTING_READ_ONLY)$/);
        expect(now).toBe(before);
      }),
      { numRuns: rounds({ short: 25, long: 400 }) },
    );
    expect(assay.stderr()).not.toContain('failed inside Assay');
  });
});

function nameIn(text: string): unknown {
  return (JSON.parse(text) as { readonly name: unknown }).name;
}

describe('any path and query', () => {
  it('is answered properly', async () => {
    const part = fc.oneof(
      fc.constantFrom(
        'tokens',
        'toolsets',
        'one',
        'equip',
        'activity',
        'docs',
        '..',
        '%00',
        '%',
        '%ff',
        '%2F',
      ),
      fc.webSegment(),
    );
    const query = fc.oneof(
      fc.constantFrom('', '?limit=5', '?cursor=MTpy', '?cursor=', '?limit=%00'),
      fc.webQueryParameters().map((text) => `?${text}`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'DELETE', 'POST', 'PUT', 'OPTIONS', 'HEAD'),
        fc.array(part, { maxLength: 4 }),
        query,
        async (method, parts, text) => {
          const path = `/${parts.join('/')}`;
          if (/^\/(mcp|health|metrics|events)/.test(path)) return;
          const answer = await admin.ask(method, `${path}${text}`);
          if (method === 'HEAD') expect([answer.text, answer.status < 500]).toEqual(['', true]);
          else expect(verdictOf(answer)).toMatch(/^(2\d\d|(400|404|405|409|415|422) [A-Z_]+)$/);
        },
      ),
      { numRuns: rounds({ short: 60, long: 1_000 }) },
    );
    expect(assay.stderr()).not.toContain('failed inside Assay');
  });
});
