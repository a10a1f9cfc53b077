import { describe, expect, it } from 'vitest';
import { TaskNotifications } from '../../src/gateway/relay/task-notifications.ts';
import { readServerMessage } from '@assay-mcp/protocol/message';
import { setProgressToken } from '@assay-mcp/protocol/translate';

/** The stream of a request, and the messages that its client receives, as text. */
function stream(isAlone: boolean): {
  notes: TaskNotifications;
  received: string[];
  send: (text: string) => void;
} {
  const received: string[] = [];
  const pass = (_note: unknown, bytes: Buffer): void => {
    received.push(bytes.toString());
  };
  const notes = new TaskNotifications({ pass, wrap: (inner) => `my ${inner}`, isAlone });
  const send = (text: string): void => {
    const note = readServerMessage(Buffer.from(text));
    if (note.kind !== 'notification') throw new Error(`no notification: ${text}`);
    notes.notify(note, note.bytes);
  };
  return { notes, received, send };
}

const status = (taskId: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"${taskId}","n":1.0}}`;
const log = (taskId: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/message","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"${taskId}"}},"data":1.0}}`;

describe('a message on the stream of a request', () => {
  it('is relayed unchanged if it names no task', () => {
    const { received, send } = stream(false);
    const text = '{"jsonrpc":"2.0", "method":"notifications/message","params":{"data":"a"}}';
    send(text);
    expect(received).toEqual([text]);
  });

  it("about its own task is relayed under the client's id", () => {
    const { notes, received, send } = stream(false);
    notes.own('a');
    send(status('a'));
    send(log('a'));
    expect(received).toEqual([status('my a'), log('my a')]);
  });

  it('about another task is not relayed, since it may belong to another client', () => {
    const { notes, received, send } = stream(false);
    notes.own('a');
    send(status('b'));
    send(log('b'));
    send(log('b').replace('"data":1.0', '"taskId":"a"'));
    notes.own('c');
    expect(received).toEqual([]);
  });

  it('is queued, up to a hundred, until its task has an id', () => {
    const { notes, received, send } = stream(false);
    for (const id of ['a', 'b', 'a']) send(status(id));
    expect(received).toEqual([]);
    notes.own('a');
    expect(received).toEqual([status('my a'), status('my a')]);
    for (let count = 0; count < 200; count += 1) send(status('z'));
    notes.own('z');
    expect(received.length - 2).toBeGreaterThanOrEqual(99);
    expect(received.length - 2).toBeLessThanOrEqual(100);
  });

  it('is always relayed if the link has only one client', () => {
    const { received, send } = stream(true);
    send(status('b'));
    expect(received).toEqual([status('my b')]);
  });

  it("about a task's progress has the client’s token and id", () => {
    const { notes, received } = stream(false);
    const text = (token: string, id: string): string =>
      log(id)
        .replace('notifications/message', 'notifications/progress')
        .replace('"data":1.0', `"progressToken":${token}`);
    const note = readServerMessage(Buffer.from(text('65536', 'a')));
    if (note.kind !== 'notification') throw new Error('no notification');
    notes.own('a');
    notes.notify(note, setProgressToken(note, '"a token of some length"'));
    expect(received).toEqual([text('"a token of some length"', 'my a')]);
  });
});
