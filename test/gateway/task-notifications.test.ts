import { describe, expect, it } from 'vitest';
import { TaskNotifications } from '../../src/gateway/relay/task-notifications.ts';
import { readServerMessage } from '../../src/protocol/message.ts';
import { withProgressToken } from '../../src/protocol/translate.ts';

/** The messages to the client of a request, as text. */
function stream(isAlone: boolean): {
  notes: TaskNotifications;
  heard: string[];
  tell: (text: string) => void;
} {
  const heard: string[] = [];
  const pass = (_note: unknown, bytes: Buffer): void => {
    heard.push(bytes.toString());
  };
  const notes = new TaskNotifications({ pass, wrap: (inner) => `my ${inner}`, isAlone });
  const tell = (text: string): void => {
    const note = readServerMessage(Buffer.from(text));
    if (note.kind !== 'notification') throw new Error(`no notification: ${text}`);
    notes.notify(note, note.bytes);
  };
  return { notes, heard, tell };
}

const status = (taskId: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"${taskId}","n":1.0}}`;
const log = (taskId: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/message","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"${taskId}"}},"data":1.0}}`;

describe('a message on the stream of a request', () => {
  it('is relayed unchanged if it names no task', () => {
    const { heard, tell } = stream(false);
    const text = '{"jsonrpc":"2.0", "method":"notifications/message","params":{"data":"a"}}';
    tell(text);
    expect(heard).toEqual([text]);
  });

  it("about its own task is relayed under the client's id", () => {
    const { notes, heard, tell } = stream(false);
    notes.own('a');
    tell(status('a'));
    tell(log('a'));
    expect(heard).toEqual([status('my a'), log('my a')]);
  });

  it('about another task is not relayed, as that may be another client’s', () => {
    const { notes, heard, tell } = stream(false);
    notes.own('a');
    tell(status('b'));
    tell(log('b'));
    tell(log('b').replace('"data":1.0', '"taskId":"a"'));
    notes.own('c');
    expect(heard).toEqual([]);
  });

  it('before the task has its id is queued, up to a hundred', () => {
    const { notes, heard, tell } = stream(false);
    for (const id of ['a', 'b', 'a']) tell(status(id));
    expect(heard).toEqual([]);
    notes.own('a');
    expect(heard).toEqual([status('my a'), status('my a')]);
    for (let count = 0; count < 200; count += 1) tell(status('z'));
    notes.own('z');
    expect(heard.length - 2).toBeGreaterThanOrEqual(99);
    expect(heard.length - 2).toBeLessThanOrEqual(100);
  });

  it('is always relayed if the link has one client only', () => {
    const { heard, tell } = stream(true);
    tell(status('b'));
    expect(heard).toEqual([status('my b')]);
  });

  it("about a task's progress has the client’s token and id", () => {
    const { notes, heard } = stream(false);
    const text = (token: string, id: string): string =>
      log(id)
        .replace('notifications/message', 'notifications/progress')
        .replace('"data":1.0', `"progressToken":${token}`);
    const note = readServerMessage(Buffer.from(text('65536', 'a')));
    if (note.kind !== 'notification') throw new Error('no notification');
    notes.own('a');
    notes.notify(note, withProgressToken(note, '"a token of some length"'));
    expect(heard).toEqual([text('"a token of some length"', 'my a')]);
  });
});
