import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../test/support/paths.ts';
import { MESSAGE_KEYS } from '../src/message-plan.ts';
import { readClientMessage, readServerMessage } from '../src/message.ts';
import type { Keys } from '../src/plan.ts';
import { buildForwardedRequest } from '../src/server-requests.ts';
import { translateReply, translateRequest, setProgressToken } from '../src/translate.ts';

/** A JSON value with every member as written, including duplicates. */
type Written = string | readonly Written[] | { readonly members: readonly (readonly [string, Written])[] };

/** A separate parser, as `JSON.parse` drops all but the last of duplicate members. Accepts well-formed text only. */
function written(text: string): Written {
  let at = 0;
  const space = (): string | undefined => {
    while (/\s/.test(text[at] ?? '')) at += 1;
    return text[at];
  };
  const string = (): string => {
    const from = at;
    for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
    at += 1;
    return text.slice(from, at);
  };
  const value = (): Written => {
    space();
    const open = text[at];
    if (open === '"') return string();
    if (open !== '{' && open !== '[') {
      const scalar = /^[^,\]}\s]+/.exec(text.slice(at, at + 40))?.[0] ?? '';
      at += scalar.length;
      return scalar;
    }
    at += 1;
    const members: (readonly [string, Written])[] = [];
    const elements: Written[] = [];
    while (space() !== '}' && text[at] !== ']') {
      if (text[at] === ',') at += 1;
      space();
      if (open === '[') elements.push(value());
      else {
        const key = JSON.parse(string()) as string;
        space();
        at += 1;
        members.push([key, value()]);
      }
    }
    at += 1;
    return open === '[' ? elements : { members };
  };
  return value();
}

const fold = (key: string): string => key.replaceAll('ſ', 's').replaceAll('\u212a', 'k').toLowerCase();

type Reader = (members: readonly (readonly [string, Written])[], key: string) => Written | undefined;
/** Readers in use take the first of two members or the last one, with or without regard to case. */
const READERS: readonly Reader[] = [
  (members, key) => members.find(([other]) => other === key)?.[1],
  (members, key) => members.findLast(([other]) => other === key)?.[1],
  (members, key) => members.findLast(([other]) => fold(other) === fold(key))?.[1],
  (members, key) => members.find(([other]) => fold(other) === fold(key))?.[1],
];

/** What a reader sees at all positions that Assay reads or changes. */
function understood(value: Written | undefined, keys: Keys, reader: Reader): unknown {
  if (value === undefined) return 'absent';
  if (Object.keys(keys).length === 0 || typeof value === 'string' || !('members' in value)) return value;
  return Object.entries(keys).map(([key, inner]) => [
    key,
    understood(reader(value.members, key), inner, reader),
  ]);
}

function isReadAlike(bytes: Buffer): boolean {
  const value = written(bytes.toString());
  const seen = READERS.map((reader) => JSON.stringify(understood(value, MESSAGE_KEYS, reader)));
  return new Set(seen).size === 1;
}

type Path = readonly string[];
function pathsIn(keys: Keys): readonly Path[] {
  return Object.entries(keys).flatMap(([key, inner]) => [
    [key],
    ...pathsIn(inner).map((path) => [key, ...path]),
  ]);
}

const META = { progressToken: 1, traceparent: 'a', 'io.modelcontextprotocol/related-task': { taskId: 't' } };
const MESSAGES = [
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', arguments: { ID: 1 }, _meta: META } },
  { jsonrpc: '2.0', id: 1, result: { content: [{ Id: 1 }], requestState: 's', _meta: META } },
  { jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'm', data: { id: 1 } } },
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 2 } },
  {
    jsonrpc: '2.0',
    id: 9,
    method: 'elicitation/create',
    params: { mode: 'form', message: 'm', _meta: META },
  },
];

/** A key in possible spellings: unchanged, in another case, with letters that fold to it, with escapes. */
const spelled = (key: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('same', 'other case', 'folds', 'escaped'), {
      minLength: key.length,
      maxLength: key.length,
    })
    .map((ways) =>
      Array.from(key)
        .map((letter, at) => {
          if (ways[at] === 'other case')
            return letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
          if (ways[at] === 'folds') return { s: 'ſ', k: '\u212a' }[letter] ?? letter;
          return ways[at] === 'escaped' ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter;
        })
        .join(''),
    );

/** The text of a message with one more member at a path, before or after the existing ones. */
function withMember(
  value: unknown,
  [key = '', ...deeper]: Path,
  { member, isFirst }: { member: string; isFirst: boolean },
): string {
  const object = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const texts = Object.entries(object)
    .filter(([other]) => deeper.length === 0 || other !== key)
    .map(([other, inner]) => `${JSON.stringify(other)}:${JSON.stringify(inner)}`);
  const added =
    deeper.length === 0
      ? member
      : `${JSON.stringify(key)}:${withMember(object[key], deeper, { member, isFirst })}`;
  return `{${(isFirst ? [added, ...texts] : [...texts, added]).join(',')}}`;
}

/** The relayed messages, if any. */
function sent(bytes: Buffer): readonly Buffer[] {
  const change = { era: 'legacy', name: 'b', clientInfo: '{}' } as const;
  const target = { id: 7, to: 'legacy', ownInfo: '{}' } as const;
  const reply = {
    idText: '"c"',
    method: 'tools/call',
    from: 'modern',
    to: 'modern',
    requestState: 'x',
    wrapTask: String,
  } as const;
  const out: Buffer[] = [];
  const fromClient = readClientMessage(bytes);
  if (fromClient.kind === 'request') out.push(Buffer.concat(translateRequest(fromClient, change, target)));
  const fromServer = readServerMessage(bytes);
  if (fromServer.kind === 'response') out.push(Buffer.concat(translateReply(fromServer, reply)));
  if (fromServer.kind === 'request') out.push(buildForwardedRequest(fromServer, 7));
  if (fromServer.kind === 'notification') out.push(setProgressToken(fromServer, '"c"'));
  return out;
}

describe('a relayed message', () => {
  it('is understood alike by every reader, whatever is duplicated or in another case', () => {
    const paths = pathsIn(MESSAGE_KEYS);
    const twins = fc.constantFrom(...paths).chain((path) =>
      fc.record({
        message: fc.constantFrom(...MESSAGES),
        path: fc.constant(path),
        key: spelled(path.at(-1) ?? ''),
        value: fc.constantFrom('2', '"x"', '{}', '{"taskId":"u"}', 'null'),
        isFirst: fc.boolean(),
      }),
    );
    let sentOn = 0;
    fc.assert(
      fc.property(twins, ({ message, path, key, value, isFirst }) => {
        const text = withMember(message, path, { member: `"${key}":${value}`, isFirst });
        for (const bytes of sent(Buffer.from(text))) {
          sentOn += 1;
          expect([text, bytes.toString(), isReadAlike(bytes)]).toEqual([text, bytes.toString(), true]);
        }
      }),
      { numRuns: 5_000 },
    );
    expect(sentOn).toBeGreaterThan(20);
  });

  it('may have duplicates of members that Assay does not read', () => {
    for (const [text, count] of [
      [
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"id":1,"ID":2,"id":3}}}',
        2,
      ],
      [
        '{"jsonrpc":"2.0","id":1,"result":{"content":[{"id":1,"Id":2}],"structuredContent":{"error":1,"ERROR":2}}}',
        1,
      ],
      ['{"jsonrpc":"2.0","method":"notifications/message","params":{"data":{"id":1,"id":2}}}', 1],
    ] as const)
      expect([text, sent(Buffer.from(text)).length]).toEqual([text, count]);
  });
});

/** Members of definitions, files and documents, which no message has. */
const ELSEWHERE = new Set([
  'annotations',
  'issuer',
  'jwks_uri',
  'keys',
  'call',
  'execution',
  'taskSupport',
  'description',
  // `readTaskStatus` reads these with a plan of its own.
  'status',
  'ttl',
  // `cut-result.ts` reads these of a large result with plans of its own, which refuse duplicates.
  ...['content', 'structuredContent', 'type', 'text', 'resource'],
]);

it('the plan has every member that the code reads, so that no duplicate of one is relayed', () => {
  const planned = new Set(pathsIn(MESSAGE_KEYS).flat());
  const folders = [
    'packages/protocol/src',
    'packages/gateway/src/adapters/upstream',
    'packages/gateway/src/adapters/sources',
  ];
  const files = [...folders, 'packages/gateway/src/edges/mcp', 'packages/gateway/src/gateway'].flatMap(
    (folder) =>
      globSync(`${folder}/**/*.ts`, { cwd: ROOT }).map((name) => readFileSync(join(ROOT, name), 'utf8')),
  );
  const read = files.flatMap((text) =>
    [...text.matchAll(/findMember\((?:[^()]|\([^()]*\))*?,\s*'([^']+)'\)/g)].map(([, key]) => key ?? ''),
  );
  expect(read.length).toBeGreaterThan(60);
  expect([...new Set(read)].filter((key) => !planned.has(key) && !ELSEWHERE.has(key))).toEqual([]);
});
