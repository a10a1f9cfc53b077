import * as z from 'zod';
import { expect, it } from 'vitest';
import { moveAuthToHeaders } from '../../src/edges/rest/contextforge.ts';
import { omitUnused } from '../../src/edges/rest/unused-fields.ts';

const BODY = {
  schema: z.object({ name: z.string(), url: z.string(), trust: z.boolean() }).partial(),
  wrapper: 'tool',
  ignores: new Set(['teamId', 'visibility', 'tags']),
};
const IGNORED = { detail: 'Assay has no such field; it was ignored', code: 'ignored' };
const READ_ONLY = { detail: 'this field cannot be set; its new value was ignored', code: 'read_only' };

it('fields of other gateways are removed, inside and next to a wrapper, and reported unless empty', () => {
  const given = { tool: { name: 'a', team_id: 't', tags: [], other: 1 }, visibility: 'private', more: 2 };
  expect(omitUnused(given, BODY)).toEqual({
    // Unknown fields stay, so that validation refuses them.
    value: { tool: { name: 'a', other: 1 }, more: 2 },
    warnings: [
      { pointer: '/visibility', ...IGNORED },
      { pointer: '/tool/team_id', ...IGNORED },
    ],
  });
});

it('a copy of a GET response is reduced to its changes', () => {
  const current = { id: 'x', name: 'a', url: 'http://a', state: 'up', trust: { value: false } };
  const copy = { ...current, url: 'http://b', state: 'down' };
  expect(omitUnused(copy, BODY, current)).toEqual({
    value: { url: 'http://b' },
    warnings: [{ pointer: '/state', ...READ_ONLY }],
  });
});

it('a body without the id is not treated as a copy: its fields stay even if unchanged', () => {
  const current = { id: 'x', url: 'http://a', state: 'up' };
  const given = { url: 'http://a', state: 'up' };
  expect(omitUnused(given, BODY, current)).toEqual({ value: given, warnings: [] });
});

it.each([
  [{ authType: 'bearer', authToken: 't' }, { Authorization: 'Bearer t' }],
  [{ authType: 'basic', authUsername: 'u', authPassword: 'p' }, { Authorization: 'Basic dTpw' }],
  [{ authType: 'authheaders', authHeaders: [{ key: 'X-Key', value: 'k' }] }, { 'X-Key': 'k' }],
  [{ authType: 'authheaders', authHeaderKey: 'X-Key', authHeaderValue: 'k' }, { 'X-Key': 'k' }],
])('credentials become headers: %j', (fields, headers) => {
  expect(moveAuthToHeaders({ ...fields, name: 'a' })).toEqual({ ok: true, value: { name: 'a', headers } });
});

it.each([
  [{ authType: 'bearer' }, 'authToken'],
  [{ authType: 'oauth' }, 'authType'],
  [{ authToken: 't' }, 'authToken'],
])('credentials that would be lost are refused: %j', (fields, field) => {
  expect(moveAuthToHeaders(fields)).toMatchObject({ ok: false, error: { field } });
});
