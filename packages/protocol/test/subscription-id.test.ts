import { describe, expect, it } from 'vitest';
import { declares } from '../src/capabilities.ts';
import { readServerMessage, type NotificationMessage } from '../src/message.ts';
import { findSubscriptionId, removeSubscriptionId, setSubscriptionId } from '../src/translate.ts';

const KEY = '"io.modelcontextprotocol/subscriptionId"';

function note(params: string): NotificationMessage {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/x"${params}}`));
  if (message.kind !== 'notification') throw new Error(`no notification: ${params}`);
  return message;
}

const paramsOf = (bytes: Buffer): string =>
  bytes.toString().slice('{"jsonrpc":"2.0","method":"notifications/x"'.length, -1);

describe('the subscription id of a notification', () => {
  it.each([
    [',"params":{}', `,"params":{"_meta":{${KEY}:7}}`],
    [',"params":{ "uri":"a"}', `,"params":{"_meta":{${KEY}:7}, "uri":"a"}`],
    [',"params":{"_meta":null,"a":1.0}', `,"params":{"_meta":{${KEY}:7},"a":1.0}`],
    [',"params":{"_meta":{}}', `,"params":{"_meta":{${KEY}:7}}`],
    [',"params":{"_meta":{"x": 1e2}}', `,"params":{"_meta":{${KEY}:7,"x": 1e2}}`],
    [`,"params":{"_meta":{"x":1, ${KEY} : 65537}}`, `,"params":{"_meta":{"x":1, ${KEY} : 7}}`],
  ])('is added to %j, and everything else stays', (given, expected) => {
    expect(paramsOf(setSubscriptionId(note(given), '7'))).toBe(expected);
  });

  it.each([
    ['', ''],
    [',"params":{"_meta":{"x":1},"a":1}', ',"params":{"_meta":{"x":1},"a":1}'],
    [`,"params":{"_meta":{${KEY}:65537},"a":1.0}`, ',"params":{"a":1.0}'],
    [`,"params":{"a":1.0,"_meta":{${KEY}:65537}}`, ',"params":{"a":1.0}'],
    [`,"params":{"_meta":{"x":1,${KEY}:65537,"y":2}}`, ',"params":{"_meta":{"x":1,"y":2}}'],
  ])('is removed from %j, together with an empty _meta', (given, expected) => {
    expect(paramsOf(removeSubscriptionId(note(given)))).toBe(expected);
  });

  it('is added if there are no params at all', () => {
    expect(setSubscriptionId(note(''), '7').toString()).toBe(
      `{"params":{"_meta":{${KEY}:7}},"jsonrpc":"2.0","method":"notifications/x"}`,
    );
  });

  it('is read as written', () => {
    expect(findSubscriptionId(note(`,"params":{"_meta":{${KEY}:"a\\u0062"}}`))).toBe('"a\\u0062"');
    expect(findSubscriptionId(note(',"params":{"_meta":{}}'))).toBeUndefined();
  });
});

it('a capability is enabled only by true', () => {
  const resources = (value: unknown): boolean => declares({ resources: value }, 'resources', 'subscribe');
  expect([{ subscribe: true }, { subscribe: 'true' }, {}, null, true, undefined].map(resources)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
