import { describe, expect, it } from 'vitest';
import type { Era } from '../src/eras.ts';
import { readClientMessage, readServerMessage, type RequestMessage } from '../src/message.ts';
import {
  findNameMember,
  findProgressToken,
  translateRequest,
  setProgressToken,
  type RequestEdits,
} from '../src/translate.ts';
import { readRawValue } from '../src/spans.ts';

type Route = `${Era} to ${Era}`;
const CLIENT_INFO = '{"name":"c","version":"1"}';
/** The members added to a legacy request before a modern server may see it. */
const ADDED =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28",' +
  `"io.modelcontextprotocol/clientInfo":${CLIENT_INFO},` +
  '"io.modelcontextprotocol/clientCapabilities":{}';
/** A modern client's data about itself. */
const OWN =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28",' +
  '"io.modelcontextprotocol/clientInfo":{"name":"m","version":"2"},' +
  '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},' +
  '"io.modelcontextprotocol/logLevel":"debug"';

function requestOf(text: string): RequestMessage {
  const message = readClientMessage(Buffer.from(text));
  if (message.kind !== 'request') throw new Error(`no request: ${text}`);
  return message;
}

function translated(text: string, route: Route, name?: string): string {
  const [from, to] = route.split(' to ') as [Era, Era];
  const change: RequestEdits = { era: from, name, clientInfo: CLIENT_INFO };
  const target = { id: 65_536, to, ownInfo: '{"name":"assay"}' };
  return Buffer.concat(translateRequest(requestOf(text), change, target)).toString();
}

/** `text` as it arrives on each route; the id is changed on all of them. */
function check(text: string, expected: Partial<Record<Route, string>>): void {
  for (const [route, after] of Object.entries(expected))
    expect([route, translated(text, route as Route)]).toEqual([route, after]);
}

const same = (text: string): Readonly<Record<'legacy to legacy' | 'modern to modern', string>> => ({
  'legacy to legacy': text,
  'modern to modern': text,
});

describe('a request', () => {
  it('gets an id of Assay, whatever its own was, and wherever it is', () => {
    for (const id of ['0', '""', '-1', '"a\\"b"', '9'.repeat(30)])
      check(
        `{ "id" : ${id} ,"jsonrpc":"2.0","method":"tools/list"}`,
        same('{ "id" : 65536 ,"jsonrpc":"2.0","method":"tools/list"}'),
      );
  });

  it('gets params in place of null where a modern server needs them', () => {
    check('{"jsonrpc":"2.0","id":1,"method":"tools/list","params": null }', {
      ...same('{"jsonrpc":"2.0","id":65536,"method":"tools/list","params": null }'),
      'legacy to modern': `{"jsonrpc":"2.0","id":65536,"method":"tools/list","params": {"_meta":{${ADDED}}} }`,
    });
  });

  it('keeps every other byte within its era', () => {
    const rest =
      `"jsonrpc":"2.0","method":"tools/call","unknown":[1.0,null],` +
      `"params":{"name":"a\\u0062","arguments":{"id":1,"n":12345678901234567890,"_meta":{"progressToken":1},"name":"x"},` +
      `"_meta":{${OWN},"x/y":1e400},"task":{"ttl":1},"inputResponses":{"id":0},"requestState":"s"}`;
    check(`{"id":1,${rest}}`, same(`{"id":65536,${rest}}`));
  });

  it('from a legacy client gets the modern envelope, in its _meta or in a new one', () => {
    const route = 'legacy to modern';
    check('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {
      [route]: `{"params":{"_meta":{${ADDED}}},"jsonrpc":"2.0","id":65536,"method":"tools/list"}`,
    });
    check('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}', {
      [route]: `{"jsonrpc":"2.0","id":65536,"method":"tools/list","params":{"_meta":{${ADDED}}}}`,
    });
    check('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}', {
      [route]: `{"jsonrpc":"2.0","id":65536,"method":"tools/call","params":{"_meta":{${ADDED}},"name":"a"}}`,
    });
    check('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{}}}', {
      [route]: `{"jsonrpc":"2.0","id":65536,"method":"tools/list","params":{"_meta":{${ADDED}}}}`,
    });
    check(
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{ "progressToken":"t","x/y":1}}}',
      {
        [route]: `{"jsonrpc":"2.0","id":65536,"method":"tools/list","params":{"_meta":{${ADDED}, "progressToken":65536,"x/y":1}}}`,
      },
    );
  });

  it('from a modern client loses the envelope, and a _meta without other members', () => {
    const route = 'modern to legacy';
    check(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{${OWN}}}}`, {
      [route]: '{"jsonrpc":"2.0","id":65536,"method":"tools/list","params":{}}',
    });
    check(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{${OWN}},"arguments":{}}}`,
      {
        [route]: '{"jsonrpc":"2.0","id":65536,"method":"tools/call","params":{"name":"a","arguments":{}}}',
      },
    );
    check(
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"x/y":1, ${OWN} ,"traceparent":"00-a-b-01"}}}`,
      {
        [route]:
          '{"jsonrpc":"2.0","id":65536,"method":"tools/list","params":{"_meta":{"x/y":1 ,"traceparent":"00-a-b-01"}}}',
      },
    );
    check(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{${OWN},"progressToken":"t"}}}`, {
      [route]:
        '{"jsonrpc":"2.0","id":65536,"method":"tools/list","params":{"_meta":{"progressToken":65536}}}',
    });
  });

  it('keeps members with envelope names anywhere else', () => {
    const rest = `"method":"tools/call","params":{"name":"a","arguments":{"_meta":{${OWN}}}}`;
    check(`{"jsonrpc":"2.0","id":1,${rest}}`, {
      'modern to legacy': `{"jsonrpc":"2.0","id":65536,${rest}}`,
    });
  });

  it('gets the envelope even if a legacy client sent members of that name, or no object', () => {
    const written = (meta: string): unknown =>
      JSON.parse(
        translated(
          `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${meta}}}`,
          'legacy to modern',
        ),
      );
    const expected = (more = ''): unknown => ({
      jsonrpc: '2.0',
      id: 65536,
      method: 'tools/list',
      params: { _meta: JSON.parse(`{${ADDED}${more}}`) },
    });
    for (const meta of ['null', '[1]', '"x"']) expect(written(meta)).toEqual(expected());
    const own = '"io.modelcontextprotocol/protocolVersion":"2025-11-25"';
    expect(written(`{${own}}`)).toEqual(expected());
    expect(written(`{${own},"x/y":1}`)).toEqual(expected(',"x/y":1'));
    expect(written(`{"x/y":1,${own},"progressToken":"t"}`)).toEqual(
      expected(',"x/y":1,"progressToken":65536'),
    );
  });

  it('keeps a _meta that is not an object, except for a server that needs the envelope', () => {
    const text = (id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{"_meta":[1]}}`;
    check(text(1), { ...same(text(65536)), 'modern to legacy': text(65536) });
  });

  it('of more than 16 kB is sent in pieces with the same bytes', () => {
    const rest = `"method":"tools/call","params":{"arguments":{"a":"${'x'.repeat(40_000)}"},"name":"b"}}`;
    expect(translated(`{"jsonrpc":"2.0","id":1,${rest}`, 'legacy to legacy', 'c')).toBe(
      `{"jsonrpc":"2.0","id":65536,${rest.replace('"b"', '"c"')}`,
    );
  });
});

describe('the progress token of a request', () => {
  it('becomes Assay’s id, within an era and between them', () => {
    const text = (id: string, token: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{"_meta":{"x":1,"progressToken":${token}}}}`;
    for (const token of ['0', '""', '"a\\n"', '1.5', 'null']) {
      const after = text('65536', '65536');
      check(text('1', token), { ...same(after), 'modern to legacy': after });
      expect(findProgressToken(requestOf(text('1', token)))).toBe(token);
    }
  });

  it('is not added if the client asked for no progress', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"progressToken":1,"_meta":{}}}';
    check(text, same(text.replace('"id":1', '"id":65536')));
    expect(findProgressToken(requestOf(text))).toBeUndefined();
  });

  it('is restored in progress notifications as the client wrote it', () => {
    const text = (token: string): string =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1.0,"x":{"progressToken":2}}}`;
    const note = readServerMessage(Buffer.from(text('65536')));
    if (note.kind !== 'notification') throw new Error('no notification');
    for (const token of ['0', '""', '"ü\\n"', '9'.repeat(30)])
      expect(setProgressToken(note, token).toString()).toBe(text(token));
  });

  it('is not added to a notification without one', () => {
    const note = readServerMessage(
      Buffer.from('{"jsonrpc":"2.0","method":"notifications/message","params":{}}'),
    );
    if (note.kind !== 'notification') throw new Error('no notification');
    expect(setProgressToken(note, '1')).toBe(note.bytes);
  });
});

describe('the name in a request', () => {
  /** The method and params, and the part of these that is the name, if any. */
  const check = (method: string, params: string, name: string | undefined): void => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
    const message = requestOf(text);
    const found = findNameMember(message);
    expect([text, found && readRawValue(message.bytes, found)]).toEqual([text, name]);
    const after = name === undefined ? params : params.replace(name, '"the \\"server\\"’s"');
    for (const route of ['legacy to legacy', 'modern to modern', 'modern to legacy'] as const)
      expect(translated(text, route, 'the "server"’s')).toBe(
        `{"jsonrpc":"2.0","id":65536,"method":"${method}","params":${after}}`,
      );
  };

  it("of a tool or prompt becomes the server's own", () => {
    check('tools/call', '{"arguments":{"name":"x"},"name":"a\\u0062"}', '"a\\u0062"');
    check('prompts/get', '{ "name" : "p" }', '"p"');
    check('completion/complete', '{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x"}}', '"p"');
  });

  it('of anything else is unchanged', () => {
    check('tools/list', '{"name":"a"}', undefined);
    check('resources/read', '{"uri":"a:b","name":"a"}', undefined);
    check('completion/complete', '{"name":"a","ref":{"type":"ref/resource","uri":"a"}}', undefined);
    check('vendor/method', '{"name":"a"}', undefined);
  });

  it('is unchanged if the server uses the same', () => {
    const text = '{"jsonrpc":"2.0","id":65536,"method":"tools/call","params":{"name":"a\\u0062"}}';
    expect(translated(text, 'legacy to legacy')).toBe(text);
  });
});
