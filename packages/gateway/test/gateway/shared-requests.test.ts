import { expect, it } from 'vitest';
import { readServerMessage } from '@assay-mcp/protocol/message';
import type { AttachedClient, ClientSession } from '../../src/gateway/catalog/client-session.ts';
import { SharedRequests } from '../../src/gateway/catalog/shared-requests.ts';
import type { ServerRequest } from '../../src/gateway/ports/link.ts';

function attached(id: string): AttachedClient {
  return { id, specFor: () => undefined };
}

/** One shared process whose server asks. `ask` returns who was asked and what the server was answered. */
function start() {
  const told: string[] = [];
  const requests = new SharedRequests(
    () => told.push('marked'),
    (session) => ({ ...session, ask: () => told.push(`labelled, then asked ${session.id}`) }),
  );
  requests.restart(true);
  const session = (id: string): ClientSession => ({
    id,
    profile: { capabilities: '{}', clientInfo: undefined, subject: 'local' },
    ask: () => told.push(`asked ${id}`),
    notify: () => undefined,
  });
  const user = (id: string) => ({ attached: attached(id), session: session(id) });
  const ask = (method = 'elicitation/create'): readonly string[] => {
    told.length = 0;
    const message = readServerMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method })));
    if (message.kind !== 'request') throw new Error('no request');
    const serverRequest: ServerRequest = {
      message,
      answer: ({ kind, text }) => told.push(`${kind} ${kind === 'result' ? text : ''}`.trim()),
      progress: () => undefined,
      onWithdrawn: () => undefined,
    };
    requests.handle(serverRequest);
    return told;
  };
  return { requests, user, session, ask };
}

it('nobody is asked before anybody has used the process', () => {
  const { ask } = start();
  expect(ask('roots/list')).toEqual(['marked', 'result {"roots":[]}']);
  expect(ask()).toEqual(['marked', 'error']);
});

it('the only user is asked, in its call or outside of one, and labelled first', () => {
  const { requests, user, ask } = start();
  const begun = requests.begin({
    ...user('a'),
    onServerRequest: (one) => one.answer({ kind: 'result', text: '"a"' }),
  });
  expect(ask()).toEqual(['marked', 'result "a"']);
  requests.end(begun);
  requests.use(user('a'));
  expect([ask(), requests.isOnlyUser('a')]).toEqual([['marked', 'labelled, then asked a'], true]);
});

it.each([
  [
    'another attached client calls',
    ({ requests, user }: ReturnType<typeof start>) => requests.use(user('b')),
  ],
  [
    'a client that is not attached calls',
    ({ requests, session }) => requests.use({ session: session('http') }),
  ],
] satisfies readonly (readonly [string, (started: ReturnType<typeof start>) => void])[])(
  'nobody is asked any more once %s, until another process starts',
  (_, use) => {
    const started = start();
    const { requests, user, ask } = started;
    requests.use(user('a'));
    use(started);
    requests.use(user('a'));
    expect([ask(), requests.isOnlyUser('a')]).toEqual([['marked', 'error'], false]);
    requests.restart(true);
    requests.use(user('a'));
    expect(ask()).toEqual(['marked', 'labelled, then asked a']);
  },
);
