import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Era } from '../src/eras.ts';
import { readClientMessage, readServerMessage, type RequestMessage } from '../src/message.ts';
import { splice } from '../src/splice.ts';
import {
  asksForTask,
  declaresTasks,
  renameTask,
  runsOnlyAsTask,
  buildTaskEdits,
  findTaskIdsInNote,
  readTaskPage,
  readTaskStatus,
  type TaskChange,
} from '../src/tasks.ts';
import { translateReply, translateRequest } from '../src/translate.ts';
import { jsonText, stringText } from '../../../test/support/json-texts.ts';

const RELATED = '"io.modelcontextprotocol/related-task"';
const OTHER = 'an id that others gave, 1.0';
const OTHER_TEXT = JSON.stringify(OTHER);

function requestOf(method: string, params: string): RequestMessage {
  const message = readClientMessage(
    Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`),
  );
  if (message.kind !== 'request') throw new Error(`no request: ${params}`);
  return message;
}

interface Route {
  readonly from?: Era;
  readonly to?: Era;
  readonly name?: string;
  readonly task?: TaskChange;
}

/** The params of a request as its server receives them. */
function sent(method: string, params: string, { from = 'legacy', to = from, name, task }: Route): string {
  const change = { era: from, name, task, clientInfo: '{}' };
  const text = Buffer.concat(
    translateRequest(requestOf(method, params), change, { id: 2, to, ownInfo: '{}' }),
  ).toString();
  return text.slice(`{"jsonrpc":"2.0","id":2,"method":"${method}","params":`.length, -1);
}

/** The result of a request as its client receives it, with every task id replaced. */
function answered(method: string, result: string, era: Era): string {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`));
  if (message.kind !== 'response') throw new Error(`no response: ${result}`);
  const change = { idText: '1', method, from: era, to: era, wrapTask: () => OTHER };
  const text = Buffer.concat(translateReply(message, change)).toString();
  return text.slice('{"jsonrpc":"2.0","id":1,"result":'.length, -1);
}

function notified(method: string, params: string): string {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`));
  if (message.kind !== 'notification') throw new Error(`no notification: ${params}`);
  const text = splice(
    message.bytes,
    buildTaskEdits(findTaskIdsInNote(message), () => OTHER),
  ).toString();
  return text.slice(`{"jsonrpc":"2.0","method":"${method}","params":`.length, -1);
}

/** `@` marks a task id that changes, `#` a string that looks like one and stays. */
function marked(template: string, id: string): string {
  return template.replaceAll('#', '"t"').replaceAll('@', id);
}

describe('the task id in a request', () => {
  it.each(['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'])(
    'of %s becomes the server’s',
    (method) => {
      const params = `{"x":{"taskId":#}, "taskId" : @ ,"inputResponses":{"taskId":#,"_meta":{"taskId":#}}}`;
      expect(sent(method, marked(params, '"w\\u0041"'), { name: OTHER })).toBe(marked(params, OTHER_TEXT));
    },
  );

  it('of anything else is unchanged', () => {
    const params = '{"taskId":"w","name":"a","arguments":{"taskId":"w"}}';
    for (const method of ['tools/call', 'tasks/list', 'vendor/method'])
      expect(sent(method, params, { name: 'a' })).toBe(params);
  });

  it('in _meta becomes the server’s, within an era and from one era to the other', () => {
    const params = `{"name":"a","_meta":{${RELATED}:{"y":1.0,"taskId":@},"x":{${RELATED}:{"taskId":#}}}}`;
    const task = { related: OTHER };
    for (const method of ['tools/call', 'resources/read', 'prompts/get'])
      expect(sent(method, marked(params, '"w"'), { task })).toBe(marked(params, OTHER_TEXT));
    expect(sent('tools/call', marked(params, '"w"'), { from: 'modern', to: 'legacy', task })).toBe(
      marked(params, OTHER_TEXT),
    );
  });
});

describe('a task request', () => {
  it('is recognized in a call', () => {
    expect(asksForTask(requestOf('tools/call', '{"task":{}}'))).toBe(true);
    expect(asksForTask(requestOf('tools/call', '{"task":null}'))).toBe(true);
    expect(asksForTask(requestOf('tools/call', '{"arguments":{"task":{}}}'))).toBe(false);
    expect(asksForTask(requestOf('prompts/get', '{"task":{}}'))).toBe(false);
  });

  it('is relayed unless it is to be dropped', () => {
    const params = '{"task":{"ttl":1.0},"name":"a"}';
    expect(sent('tools/call', params, {})).toBe(params);
    const task = { isDropped: true };
    expect(sent('tools/call', params, { task })).toBe('{"name":"a"}');
    expect(sent('tools/call', '{"name":"a","task":{}}', { task })).toBe('{"name":"a"}');
    expect(sent('tools/call', '{"name":"a"}', { task })).toBe('{"name":"a"}');
  });

  it('is removed together with the envelope if both must be', () => {
    const envelope = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}';
    const route: Route = { from: 'modern', to: 'legacy', task: { isDropped: true } };
    for (const params of [`"task":{},${envelope}`, `${envelope},"task":{}`])
      for (const [before, after] of [
        [`{${params}}`, '{}'],
        [`{"name":"a",${params}}`, '{"name":"a"}'],
        [`{${params},"name":"a"}`, '{"name":"a"}'],
        [`{${params.replace('"_meta":{', '"_meta":{"x":1,')}}`, '{"_meta":{"x":1}}'],
      ] as const)
        expect(sent('tools/call', before, route)).toBe(after);
  });
});

describe('task ids in a result', () => {
  const check = (era: Era, method: string, template: string): void => {
    expect(answered(method, marked(template, '"t"'), era)).toBe(marked(template, OTHER_TEXT));
  };

  it('of 2025-11-25 become the client’s', () => {
    check(
      'legacy',
      'tools/call',
      '{"taskId":#,"task":{"taskId":@,"x":{"taskId":#}},"content":[{"taskId":#}]}',
    );
    check('legacy', 'tasks/get', '{"task":{"taskId":#}, "taskId" : @ ,"ttl":1.0}');
    check('legacy', 'tasks/cancel', '{"taskId":@}');
    check(
      'legacy',
      'tasks/result',
      `{"taskId":#,"task":{"taskId":#},"_meta":{${RELATED}:{"taskId":@},"taskId":#}}`,
    );
    check('legacy', 'elicitation/create', `{"action":"accept","_meta":{${RELATED}:{"taskId":@}}}`);
  });

  it('of the modern era become the client’s', () => {
    check('modern', 'tools/call', '{"resultType":"task","taskId":@,"task":{"taskId":#}}');
    check('modern', 'tools/call', '{"resultType":"complete","taskId":#,"structuredContent":{"taskId":#}}');
    check('modern', 'tasks/get', '{"taskId":@,"result":{"taskId":#},"inputRequests":{"taskId":#}}');
    check('modern', 'tasks/cancel', '{"resultType":"complete","taskId":#}');
  });

  it('are unchanged if they are not strings', () => {
    check('legacy', 'tasks/get', '{"taskId":7}');
    check('legacy', 'tools/call', '{"task":[{"taskId":#}]}');
  });
});

describe('task ids in a notification', () => {
  it('become the client’s', () => {
    const check = (method: string, template: string): void => {
      expect(notified(method, marked(template, '"t"'))).toBe(marked(template, OTHER_TEXT));
    };
    for (const method of ['notifications/tasks/status', 'notifications/tasks'])
      check(method, '{"taskId":@,"status":"working","result":{"taskId":#}}');
    const meta = `"_meta":{"taskId":#,${RELATED}:{"taskId":@}}`;
    for (const method of ['notifications/message', 'notifications/progress', 'vendor/anything'])
      check(method, `{"taskId":#,"data":{"taskId":#},${meta}}`);
    check('notifications/tasks/status', `{${meta},"taskId":@}`);
  });
});

/** A character that no JSON text contains. */
const HERE = '\u0001';

it('random texts around task ids are relayed byte for byte, and any id is replaced', () => {
  fc.assert(
    fc.property(jsonText, jsonText, stringText, (a, b, id) => {
      const template = `{"content":${a},"task":{"before":${b},"taskId":${HERE},"after":${a}},"_meta":{"x":${b},${RELATED}:{"taskId":${HERE}}}}`;
      expect(
        answered(
          'tools/call',
          template.replaceAll(HERE, () => id),
          'legacy',
        ),
      ).toBe(template.replaceAll(HERE, () => OTHER_TEXT));
      const params = `{"arguments":${a},"taskId":${HERE},"inputResponses":${b},"_meta":{"x":${b},${RELATED}:{"taskId":${HERE}}}}`;
      const route = { name: OTHER, task: { related: OTHER } };
      expect(
        sent(
          'tasks/update',
          params.replaceAll(HERE, () => id),
          route,
        ),
      ).toBe(params.replaceAll(HERE, () => OTHER_TEXT));
    }),
  );
});

describe('the status of a task', () => {
  const statusIn = (result: string): unknown => {
    const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`));
    return message.kind === 'response' ? readTaskStatus(message) : undefined;
  };

  it('is read from the result of a call, of either era, and from that of tasks/get', () => {
    const working = { status: 'working', ttlMs: 60_000 };
    expect(statusIn('{"task":{"taskId":"a","status":"working","ttl":60000}}')).toEqual(working);
    expect(statusIn('{"resultType":"task","taskId":"a","status":"working","ttlMs":60000}')).toEqual(working);
    expect(statusIn('{"taskId":"a","status":"completed","ttl":null,"result":{"status":"x"}}')).toEqual({
      status: 'completed',
      ttlMs: undefined,
    });
  });

  it('is unknown if it cannot be read, and a time that is none counts as no limit', () => {
    const unknown = { status: undefined, ttlMs: undefined };
    for (const result of ['{}', '[]', '{"status":1,"ttl":-1}', '{"ttl":"x"}', '{"ttl":{}}'])
      expect(statusIn(result)).toEqual(unknown);
  });
});

describe('a page of a server’s tasks', () => {
  const pageOf = (result: string): ReturnType<typeof readTaskPage> => {
    const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`));
    return message.kind === 'response' ? readTaskPage(message) : undefined;
  };

  it('yields each task as written, and the cursor', () => {
    const tasks = ['{ "taskId" : "a" ,"n":1.0}', '{"taskId":"b","x":{"taskId":"c"}}'];
    const page = pageOf(`{"nextCursor":"\\u0041","tasks":[ ${tasks.join(' , ')} ]}`);
    expect(page?.tasks.map(String)).toEqual(tasks);
    expect(page?.nextCursor).toBe('A');
    expect(pageOf('{"tasks":[]}')).toEqual({ tasks: [], nextCursor: undefined });
    for (const wrong of ['{}', '{"tasks":null}', '{"tasks":{"taskId":"a"}}'])
      expect(pageOf(wrong)).toBeUndefined();
  });

  it('gives each task another id, and skips one without an id', () => {
    const renamed = (task: string): string | undefined =>
      renameTask(Buffer.from(task), (id) => `${id}!`)?.toString();
    expect(renamed('{ "taskId" : "a" ,"n":1.0,"x":{"taskId":"c"}}')).toBe(
      '{ "taskId" : "a!" ,"n":1.0,"x":{"taskId":"c"}}',
    );
    for (const none of ['{}', '{"taskId":1}', '"a"', '[]']) expect(renamed(none)).toBeUndefined();
  });
});

it('a tool runs only as a task if its definition says so', () => {
  const check = (definition: string, expected: boolean): void => {
    expect([definition, runsOnlyAsTask(Buffer.from(definition))]).toEqual([definition, expected]);
  };
  check('{"name":"a","execution":{"taskSupport":"required"}}', true);
  check('{"name":"a","execution":{"taskSupport":"optional"}}', false);
  check('{"name":"a","taskSupport":"required","execution":{}}', false);
  check('{"name":"a","execution":"required"}', false);
});

it('a modern request declares tasks only through the extension in its envelope', () => {
  const declares = (capabilities: string): boolean =>
    declaresTasks(
      requestOf('tools/call', `{"_meta":{"io.modelcontextprotocol/clientCapabilities":${capabilities}}}`),
    );
  expect(declares('{"extensions":{"io.modelcontextprotocol/tasks":{}}}')).toBe(true);
  for (const none of [
    '{}',
    '{"tasks":{}}',
    '{"extensions":{}}',
    '{"io.modelcontextprotocol/tasks":{}}',
    '[]',
  ])
    expect(declares(none)).toBe(false);
});
