import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { toOwnBody } from '../../src/edges/rest/compat.ts';
import { toSentBody } from '../../src/edges/rest/read-fields.ts';
import { omitUnchanged } from '../../src/edges/rest/unchanged-fields.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

const TEXTS = z.record(z.string(), z.string());
const TOOL = z
  .object({
    name: z.string(),
    url: z.string(),
    method: z.string(),
    trust: z.boolean(),
    headers: TEXTS,
    annotations: z.object({ readOnlyHint: z.boolean() }),
  })
  .partial();

/** A body for `/tools`, or one that changes the tool that GET shows as `current`. */
const own = (sent: unknown, current?: JsonObject): ReturnType<typeof toOwnBody> =>
  toOwnBody(
    {
      path: current === undefined ? '/tools' : '/tools/{id}',
      body: { schema: TOOL, examples: {}, ...(current && { current: () => Promise.resolve(current) }) },
    },
    sent,
    current,
  );
const parts = (sent: unknown, current?: JsonObject): unknown => {
  const { value, warnings, fieldErrors } = own(sent, current);
  return {
    value,
    warnings: warnings.map(({ pointer, code }) => `${code} ${pointer}`),
    fieldErrors: fieldErrors.map(({ at, kind, reason }) => `${kind} ${at} ${reason}`),
  };
};

it('fields of other gateways are removed, inside and next to a wrapper, and reported unless empty', () => {
  const sent = { tool: { name: 'a', team_id: 't', tags: [], other: 1 }, visibility: 'private', more: 2 };
  expect(parts(sent)).toEqual({
    // Unknown fields stay, so that validation refuses them.
    value: { name: 'a', other: 1 },
    warnings: ['ignored /visibility', 'ignored /tool/team_id'],
    fieldErrors: ['unknown /more there is no such field beside "tool"'],
  });
});

it('pointers lead into the body as it was sent', () => {
  const { value, pointerTo } = own({
    tool: {
      request_type: 'GET',
      annotations: { read_only_hint: true },
      headers: { my_key: 'k' },
      auth_type: 'bearer',
      auth_token: 't',
    },
  });
  expect(value).toEqual({
    method: 'GET',
    annotations: { readOnlyHint: true },
    headers: { my_key: 'k', Authorization: 'Bearer t' },
  });
  expect(
    [
      [],
      ['method'],
      ['annotations', 'readOnlyHint', 0],
      ['headers', 'my_key'],
      ['headers', 'Authorization'],
      ['name'],
    ].map(pointerTo),
  ).toEqual([
    '/tool',
    '/tool/request_type',
    '/tool/annotations/read_only_hint/0',
    '/tool/headers/my_key',
    '/tool/auth_type',
    '/tool/name',
  ]);
});

it('a member given under two names is refused at the second', () => {
  expect(parts({ requestType: 'GET', method: 'POST', read_only: 1, readOnly: 2 })).toMatchObject({
    fieldErrors: [
      'twice /readOnly it is given twice, under two spellings',
      'invalid /requestType it differs from method; give only one of them',
    ],
  });
});

it('a copy of a GET response is reduced to its changes', () => {
  const current = { id: 'x', name: 'a', url: 'http://a', version: 1, state: 'up', trust: { value: false } };
  const body = own({ tool: { ...current, url: 'http://b', version: 2, state: 'down' } }, current);
  expect(body.warnings).toEqual([]);
  expect(omitUnchanged(body, TOOL, current)).toEqual({
    value: { url: 'http://b' },
    warnings: ['version', 'state'].map((name) => ({
      pointer: `/tool/${name}`,
      detail: 'this field cannot be set; its new value was ignored',
      code: 'read_only',
    })),
  });
});

it('a body without the id is not treated as a copy: its fields stay even if unchanged', () => {
  const current = { id: 'x', url: 'http://a', state: 'up' };
  const sent = { url: 'http://a', state: 'up' };
  expect(omitUnchanged(toSentBody(sent), TOOL, current)).toEqual({ value: sent, warnings: [] });
});

describe('credentials', () => {
  it.each([
    [{ authType: 'bearer', authToken: 't' }, { Authorization: 'Bearer t' }],
    [{ auth_type: 'basic', auth_username: 'u', auth_password: 'p' }, { Authorization: 'Basic dTpw' }],
    [{ authType: 'authheaders', authHeaders: [{ key: 'X-Key', value: 'k' }] }, { 'X-Key': 'k' }],
    [{ authType: 'authheaders', authHeaderKey: 'X-Key', authHeaderValue: 'k' }, { 'X-Key': 'k' }],
  ])('become headers: %j', (fields, headers) => {
    expect(parts({ ...fields, name: 'a' })).toEqual({
      value: { name: 'a', headers },
      warnings: [],
      fieldErrors: [],
    });
  });

  it.each([
    [{ authType: 'bearer' }, 'invalid /authToken it is missing'],
    [{ auth_token: 't' }, 'invalid /auth_token it has no effect without authType'],
    [{ auth_type: 'basic', auth_username: 5 }, 'invalid /auth_username it must be a string'],
  ])('that would be lost are refused: %j', (fields, fault) => {
    expect(parts(fields)).toMatchObject({ fieldErrors: [fault] });
  });

  it.each([[undefined], [['Authorization', 'X-Key']]])(
    'that would remove another header are refused, on tools as on gateways (headers: %j)',
    (headers) => {
      const current = { id: 'x', headers: ['Authorization', 'X-Key'] };
      expect(parts({ headers, auth_type: 'bearer', auth_token: 't' }, current)).toMatchObject({
        fieldErrors: ['invalid /auth_type it would remove the header "X-Key"; give all of them in "headers"'],
      });
    },
  );
});
