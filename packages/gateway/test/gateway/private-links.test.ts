import { afterEach, expect, it, vi } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import { compileStops, type FindStop } from '../../src/core/stops.ts';
import type { SoleClient } from '../../src/gateway/catalog/client-session.ts';
import type { ServerRequestRouter } from '../../src/gateway/catalog/server-request-router.ts';
import { createSharedLinkClient } from '../../src/gateway/catalog/shared-link-client.ts';
import { PrivateLinks } from '../../src/gateway/catalog/private-links.ts';
import type { Cause } from '../../src/core/cause.ts';
import type { LinkOwner } from '../../src/gateway/catalog/link-choice.ts';
import type { Connect, ServerRequest, ServerRequestAnswer } from '../../src/gateway/ports/link.ts';
import type { NotificationMessage } from '@assay-mcp/protocol/message';
import { listLink } from './list-link.ts';
import { listed, SILENT } from './listed-server.ts';

afterEach(() => vi.useRealTimers());

const PATIENCE = { timeoutMs: 60_000, cancellation: undefined };

/** The links of a stateful server, and why each one was closed, by the subject it was opened for. */
function statefulLinks(
  processes = 32,
  ended: () => Promise<void> = () => Promise.resolve(),
): {
  readonly links: PrivateLinks;
  readonly closed: string[];
  readonly take: (subject: string, owner?: LinkOwner['kind']) => ReturnType<PrivateLinks['take']>;
  /** Lets the server of the last link request something of its client. */
  readonly ask: (serverRequest: ServerRequest) => void;
} {
  const closed: string[] = [];
  let ask: ((serverRequest: ServerRequest) => void) | undefined;
  const connect: Connect = async (_, { client, events }) => {
    const profile = await client;
    ask = events.requested;
    const close = (cause: Cause): Promise<void> => {
      closed.push(`${profile?.subject} ${cause.code}`);
      return ended();
    };
    return ok({ ...listLink(() => '{}'), close });
  };
  const { spec } = listed('a');
  const limits = { ...getDefaultSettings(), 'limits.processesPerServer': processes };
  const links = new PrivateLinks({ spec: () => spec, connect, log: SILENT, limits, idleMs: 300_000 });
  const take = (subject: string, owner: LinkOwner['kind'] = 'client'): ReturnType<PrivateLinks['take']> => {
    const profile = { capabilities: '{}', clientInfo: undefined, subject };
    return links.take(
      { choice: { kind: 'own', key: subject, profile, owner }, session: undefined },
      PATIENCE,
    );
  };
  return { links, closed, take, ask: (serverRequest) => ask?.(serverRequest) };
}

it('a process that keeps state for a modern client ends after half an hour without use, not before', async () => {
  vi.useFakeTimers();
  const { closed, take } = statefulLinks();
  const taken = await take('a');
  await vi.advanceTimersByTimeAsync(40 * 60_000);
  expect(closed).toEqual([]);
  if (taken.ok) taken.value.release();
  await vi.advanceTimersByTimeAsync(29 * 60_000);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(closed).toEqual(['a LINK_IDLE']);
});

it('beyond the limit, the process that was unused longest makes room; if all are in use, a new client is refused', async () => {
  const { closed, take } = statefulLinks(2);
  for (const subject of ['a', 'b']) {
    const taken = await take(subject);
    if (taken.ok) taken.value.release();
  }
  expect((await take('c')).ok).toBe(true);
  expect(closed).toEqual(['a LINK_REPLACED']);
  expect((await take('b')).ok).toBe(true);
  expect(await take('d')).toMatchObject({ ok: false, error: { code: 'SERVER_BUSY' } });
});

it('processes that do not end are bounded, too: no more are started', async () => {
  const { take, links } = statefulLinks(2, () => new Promise(() => undefined));
  const outcomes: boolean[] = [];
  for (const subject of ['a', 'b', 'c']) {
    const taken = await take(subject);
    outcomes.push(taken.ok);
    if (taken.ok) taken.value.release();
    links.closeWhenUnused(subject, { code: 'CLIENT_GONE' });
  }
  expect(outcomes).toEqual([true, true, false]);
});

it('the process of a closed connection ends after the call that is suspended there, and serves no other call', async () => {
  const { links, closed, take } = statefulLinks();
  const suspended = await take('a', 'connection');
  const other = await take('a', 'connection');
  if (!suspended.ok || !other.ok) throw new Error('there must be links');
  expect(other.value).not.toBe(suspended.value);
  other.value.release();
  links.closeWhenUnused('a', { code: 'CLIENT_GONE' });
  await vi.waitFor(() => expect(closed).toEqual(['a LINK_CLOSED']));
  suspended.value.release();
  await vi.waitFor(() => expect(closed).toEqual(['a LINK_CLOSED', 'a CLIENT_GONE']));
  expect(links.size).toBe(0);
});

it('a request of a server that could belong to several calls reaches none of them', async () => {
  const { take, ask } = statefulLinks();
  const [one, other] = [await take('a'), await take('a')];
  if (!one.ok || !other.ok) throw new Error('there must be links');
  const asked: string[] = [];
  const answers: ServerRequestAnswer[] = [];
  const answer = (given: ServerRequestAnswer): void => void answers.push(given);
  const serverRequest = { message: { method: 'roots/list' }, answer } as unknown as ServerRequest;
  one.value.begin(() => asked.push('one'));
  ask(serverRequest);
  expect(asked).toEqual(['one']);
  other.value.begin(() => asked.push('other'));
  ask(serverRequest);
  expect([asked, answers.map(({ kind }) => kind)]).toEqual([['one'], ['error']]);
});

it('a stopped server neither reaches the client nor gets an answer that the client gives afterwards', async () => {
  let events: Parameters<Connect>[1]['events'] | undefined;
  const connect: Connect = (_, opening) => {
    ({ events } = opening);
    return Promise.resolve(ok({ ...listLink(() => '{}'), correlatesServerRequests: true }));
  };
  const { spec } = listed('a');
  const policy: { findStop: FindStop | undefined } = { findStop: undefined };
  const limits = getDefaultSettings();
  const links = new PrivateLinks({ spec: () => spec, connect, log: SILENT, limits, policy });
  const profile = { capabilities: '{}', clientInfo: undefined, subject: 'a' };
  const asked: ServerRequest[] = [];
  const notes: unknown[] = [];
  const session = {
    id: 's',
    profile,
    ask: (request: ServerRequest) => void asked.push(request),
    notify: (note: unknown) => void notes.push(note),
  };
  await links.take({ choice: { kind: 'own', key: 'a', profile }, session }, PATIENCE);
  const message = { method: 'sampling/createMessage' } as ServerRequest['message'];
  const answers: ServerRequestAnswer[] = [];
  const request: ServerRequest = {
    message,
    answer: (answer) => void answers.push(answer),
    progress: () => undefined,
    onWithdrawn: () => undefined,
  };
  events?.requested?.(request);
  expect(asked).toHaveLength(1);
  policy.findStop = compileStops([{ target: { kind: 'server', server: 'a' }, by: 'boss', atMs: 0 }]);
  asked[0]?.answer({ kind: 'result', text: '{"secret":1}' });
  events?.requested?.(request);
  const note = { method: 'notifications/message' } as NotificationMessage;
  expect(events?.notified?.(note)).toBe(false);
  expect([asked.length, notes]).toEqual([1, []]);
  expect(answers.map(({ kind, text }) => [kind, text.includes('CALL_STOPPED')])).toEqual([
    ['error', true],
    ['error', true],
  ]);
});

it('a stopped server reaches the only client of its process no more', () => {
  const { spec } = listed('a');
  const policy: { findStop: FindStop | undefined } = { findStop: undefined };
  const notes: unknown[] = [];
  const handled: unknown[] = [];
  const sole = {
    profile: Promise.resolve(undefined),
    sessionFor: () => ({ notify: (note: unknown) => void notes.push(note) }),
  } as unknown as SoleClient;
  const router = {
    handle: (request: unknown) => void handled.push(request),
  } as unknown as ServerRequestRouter;
  const { events } = createSharedLinkClient(spec, sole, { sole: router, sharedRequests: undefined, policy });
  const answers: ServerRequestAnswer[] = [];
  const request = {
    message: { method: 'elicitation/create' },
    answer: (answer: ServerRequestAnswer) => void answers.push(answer),
  } as unknown as ServerRequest;
  const note = { method: 'notifications/message' } as NotificationMessage;
  const reach = (): void => {
    events.requested?.(request);
    events.notified?.(note);
  };
  reach();
  expect([handled.length, notes.length, answers]).toEqual([1, 1, []]);
  policy.findStop = compileStops([{ target: { kind: 'server', server: 'a' }, by: 'boss', atMs: 0 }]);
  reach();
  expect([handled.length, notes.length]).toEqual([1, 1]);
  expect(answers.map(({ text }) => text.includes('CALL_STOPPED'))).toEqual([true]);
});
