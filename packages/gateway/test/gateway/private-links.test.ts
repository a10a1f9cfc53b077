import { afterEach, expect, it, vi } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import { PrivateLinks } from '../../src/gateway/catalog/private-links.ts';
import type { Cause } from '../../src/core/cause.ts';
import type { LinkOwner } from '../../src/gateway/catalog/link-choice.ts';
import type { Connect, ServerRequest, ServerRequestAnswer } from '../../src/gateway/ports/link.ts';
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
