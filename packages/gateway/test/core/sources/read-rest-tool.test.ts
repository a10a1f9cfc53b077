import { describe, expect, it } from 'vitest';
import { toEntryFault } from '@assay-mcp/kit/json-position';
import { readRestTool } from '../../../src/core/sources/read-rest-tool.ts';

const URL = 'https://api.example/pets/{id}?page={page}';

describe('a REST tool', () => {
  it('needs only a URL', () => {
    expect(readRestTool('pets/by-id', { url: URL })).toEqual({
      ok: true,
      value: {
        name: 'pets/by-id',
        url: URL,
        method: 'POST',
        isMethodGiven: false,
        headers: {},
        inputSchema: {
          type: 'object',
          properties: { id: { type: 'string' }, page: { type: 'string' } },
          required: ['id', 'page'],
        },
        annotations: {},
        queryMapping: {},
        headerMapping: {},
        bodyType: 'json',
        timeoutMs: 60_000,
        maxBytes: 1_048_576,
        outputValidation: 'warn',
      },
    });
  });

  it('has the values of all its members', () => {
    const inputSchema = { type: 'object', properties: { id: {}, page: {} }, additionalProperties: false };
    const entry = {
      url: URL,
      method: 'patch',
      headers: { 'X-Key': 'a', Authorization: 'b', cookie: 'c' },
      auth: { type: 'query', name: 'key', value: 'd' },
      title: 'Pets',
      description: 'Changes a pet.',
      inputSchema,
      outputSchema: { type: 'object' },
      outputValidation: 'off',
      annotations: {
        title: 'Other',
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: true,
      },
      queryMapping: { a: 'A', b: 'a' },
      headerMapping: { a: 'X-A' },
      bodyType: 'form',
      filter: 'a.b',
      timeoutMs: 2_147_483_647,
      maxBytes: 52_428_800,
    };
    expect(readRestTool('a', entry)).toEqual({
      ok: true,
      value: {
        ...entry,
        name: 'a',
        method: 'PATCH',
        isMethodGiven: true,
        auth: { kind: 'query', name: 'key', value: 'd' },
        annotations: {
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: true,
          openWorldHint: true,
        },
      },
    });
  });

  it('accepts the mapped arguments if it has no schema, and requires only those in the URL', () => {
    const read = readRestTool('a', {
      url: 'http://a/{id}',
      queryMapping: { q: 'q' },
      headerMapping: { id: 'x-id', h: 'x-h' },
    });
    expect(read.ok && read.value.inputSchema).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, q: { type: 'string' }, h: { type: 'string' } },
      required: ['id'],
    });
  });

  it.each(['bearer', 'basic', 'header'])('can authenticate by %s', (type) => {
    const members = {
      bearer: { token: 'a' },
      basic: { username: '', password: 'ä' },
      header: { name: 'cookie', value: 'a' },
    };
    const auth = members[type as keyof typeof members];
    const read = readRestTool('a', { url: 'http://a/', auth: { type, ...auth } });
    expect(read.ok && read.value.auth).toEqual({ kind: type, ...auth });
  });

  it.each(['', '-a', '.a', 'a b', 'ä', 'a'.repeat(129), 'a\n'])('cannot be named %j', (name) => {
    expect(faultsOf({ url: 'http://a/' }, name)).toEqual([
      [
        '',
        'A name has 1 to 128 letters, digits, "_", ".", "/" or "-", and begins with a letter, a digit or "_".',
      ],
    ]);
  });

  it.each<readonly [Readonly<Record<string, unknown>>, string, string]>([
    [{}, 'url', 'It is missing.'],
    [{ url: 1 }, 'url', 'It must be a string.'],
    ...[
      '/a',
      'ftp://a/',
      'http:a',
      '//a',
      'http://',
      'http://a b/',
      'http://a\\b',
      ' http://a/',
      'http://a:99999/',
    ].map(
      (url) =>
        [{ url }, 'url', 'It is not an absolute URL that begins with "http://" or "https://".'] as const,
    ),
    ...['http://{a}/', 'http://a.{b}/', 'http://a:{b}/', 'http://{u}@a/', 'http://a{b}'].map(
      (url) =>
        [{ url }, 'url', 'An argument may stand in the path or in the query, but not in the host.'] as const,
    ),
    [{ url: '{scheme}://a/' }, 'url', 'It is not an absolute URL that begins with "http://" or "https://".'],
    [{ url: 'http://u:p@a/' }, 'url', 'It contains a user or a password; use "auth".'],
    [{ url: 'http://a/#b' }, 'url', 'It contains a "#"; the part after it is never sent.'],
    ...['http://a/b/../c', 'http://a/{b}/..', 'http://a/%2e%2E/{b}', 'http://a/.'].map(
      (url) => [{ url }, 'url', 'Its path contains "." or ".."; write the resolved path.'] as const,
    ),
    ...['http://a/{b', 'http://a/b}', 'http://a/{}', 'http://a/{{b}}', 'http://a/?b={'].map(
      (url) =>
        [
          { url },
          'url',
          'A "{" has no matching "}" or the reverse, or there is no name between them.',
        ] as const,
    ),
    [
      { url: 'http://a/?{b}=1' },
      'url',
      'An argument may stand for the value of a query parameter, but not for its name.',
    ],
    [{ url: 'http://a/?%zz=1' }, 'url', 'A name in its query is not percent-encoded as it must be.'],
  ])('cannot be %j', (entry, field, reason) => {
    expect(faultsOf(entry)).toEqual([[field, reason]]);
  });

  it.each<readonly [Readonly<Record<string, unknown>>, string, string]>([
    [{ methd: 'GET' }, 'methd', 'There is no such member; did you mean "method"?'],
    [{ method: 'TRACE' }, 'method', 'It must be one of GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE.'],
    [{ title: 1 }, 'title', 'It must be a string.'],
    [{ description: null }, 'description', 'It must be a string.'],
    [{ headers: [] }, 'headers', 'It must be an object.'],
    [{ headers: { a: 1 } }, 'headers.a', 'It must be a string.'],
    [{ headers: { 'a b': '' } }, 'headers.a b', '"a b" is not a header name.'],
    [
      { headers: { a: 'secret\r\nb: c' } },
      'headers.a',
      'It contains a line break or a character that is not allowed in a header.',
    ],
    [{ headers: { a: ' b' } }, 'headers.a', 'It begins or ends with white space, which no server would see.'],
    [{ headers: { a: '1', A: '2' } }, 'headers.A', 'It occurs twice.'],
    [
      { headers: { Authorization: 'a' }, auth: { type: 'bearer', token: 'b' } },
      'headers.Authorization',
      'It is set by "auth" as well.',
    ],
    ...[
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'Connection',
      'Upgrade',
      'TE',
      'Trailer',
      'Proxy-Authorization',
    ].flatMap(
      (name) =>
        [
          [
            { headers: { [name]: 'a' } },
            `headers.${name}`,
            `The header "${name}" is set by the connection alone.`,
          ],
          [
            { headerMapping: { a: name } },
            'headerMapping.a',
            `The header "${name}" is set by the connection alone.`,
          ],
        ] as const,
    ),
    ...['Authorization', 'cookie'].map(
      (name) =>
        [
          { headerMapping: { a: name } },
          'headerMapping.a',
          `The header "${name}" identifies the caller, so no argument may set it; use "auth" or "headers".`,
        ] as const,
    ),
    [
      { headerMapping: { a: 'X-A' }, headers: { 'x-a': '' } },
      'headerMapping.a',
      'That header is set by "headers".',
    ],
    [
      { headerMapping: { a: 'X-A', b: 'x-a' } },
      'headerMapping.b',
      'Another argument is already mapped to it.',
    ],
    [{ queryMapping: { a: 'b', c: 'b' } }, 'queryMapping.c', 'Another argument is already mapped to it.'],
    [{ queryMapping: { a: '' } }, 'queryMapping.a', 'A query parameter needs a name.'],
    [
      { url: 'http://a/?b%20c=1', queryMapping: { a: 'b c' } },
      'queryMapping.a',
      'That query parameter is set by "url".',
    ],
    [
      { queryMapping: { a: 'k' }, auth: { type: 'query', name: 'k', value: 'v' } },
      'queryMapping.a',
      'That query parameter is set by "auth".',
    ],
    [{ auth: 'secret' }, 'auth', 'It must be an object.'],
    [{ auth: {} }, 'auth.type', 'It must be one of bearer, basic, header, query.'],
    [{ auth: { type: 'bearer' } }, 'auth.token', 'It is missing.'],
    [{ auth: { type: 'bearer', token: 'a b' } }, 'auth.token', 'It contains white space.'],
    [
      { auth: { type: 'bearer', token: 'a', name: 'b' } },
      'auth.name',
      'There is no such member; known are type, token.',
    ],
    [
      { auth: { type: 'basic', username: 'a:b', password: '' } },
      'auth.username',
      'It contains a ":", where the password would begin.',
    ],
    [
      { auth: { type: 'header', name: 'host', value: 'a' } },
      'auth.name',
      'The header "host" is set by the connection alone.',
    ],
    [
      { auth: { type: 'header', name: 'a', value: 'secret\n' } },
      'auth.value',
      'It contains a line break or a character that is not allowed in a header.',
    ],
    [{ auth: { type: 'query', name: '', value: 'a' } }, 'auth.name', 'It is empty.'],
    [{ inputSchema: true }, 'inputSchema', 'It must be a JSON Schema with "type": "object".'],
    [{ inputSchema: { type: 'string' } }, 'inputSchema', 'It must be a JSON Schema with "type": "object".'],
    [{ inputSchema: { type: 'object', properties: [] } }, 'inputSchema.properties', 'It must be an object.'],
    [
      { url: 'http://a/{b}?c={d}', inputSchema: { type: 'object', properties: { b: {} } } },
      'inputSchema',
      'It has no property "d", which the URL needs.',
    ],
    [{ outputValidation: 'on' }, 'outputValidation', 'It must be one of off, warn, strict.'],
    [{ outputSchema: { type: 'array' } }, 'outputSchema', 'It must be a JSON Schema with "type": "object".'],
    [{ annotations: { readOnlyHint: 'yes' } }, 'annotations.readOnlyHint', 'It must be true or false.'],
    [{ annotations: { title: 1 } }, 'annotations.title', 'It must be a string.'],
    [
      { annotations: { mood: 1 } },
      'annotations.mood',
      'There is no such member; known are readOnlyHint, destructiveHint, idempotentHint, openWorldHint, title.',
    ],
    [
      { annotations: { readOnlyHint: true, destructiveHint: true } },
      'annotations',
      'What only reads destroys nothing: readOnlyHint and destructiveHint are both true.',
    ],
    [{ bodyType: 'xml' }, 'bodyType', 'It must be one of json, form.'],
    [{ filter: '' }, 'filter', 'It is empty; leave it out where the whole answer is wanted.'],
    [{ filter: 'a'.repeat(4_097) }, 'filter', 'It is longer than 4096 characters.'],
    ...[0, -1, 1.5, '1', null, 2 ** 31].map(
      (timeoutMs) => [{ timeoutMs }, 'timeoutMs', 'It must be a whole number from 1 to 2147483647.'] as const,
    ),
    [{ maxBytes: 52_428_801 }, 'maxBytes', 'It must be a whole number from 1 to 52428800.'],
  ])('cannot have %j', (member, field, reason) => {
    expect(faultsOf({ url: 'http://a/', ...member })).toEqual([[field, reason]]);
  });

  it('has all its faults reported at once', () => {
    expect(faultsOf({ methd: 'a', method: 'b', maxBytes: 0 }, '-').map(([field]) => field)).toEqual([
      ...['', 'methd', 'url', 'method', 'maxBytes'],
    ]);
  });
});

function faultsOf(
  entry: Readonly<Record<string, unknown>>,
  name = 'tool',
): readonly (readonly [string, string])[] {
  const read = readRestTool(name, entry);
  return read.ok ? [] : read.error.map(toEntryFault).map(({ field, reason }) => [field, reason]);
}
