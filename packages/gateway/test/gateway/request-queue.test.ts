import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cause } from '../../src/core/cause.ts';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Refusal } from '../../src/core/refusal.ts';
import { RequestQueue } from '../../src/gateway/catalog/request-queue.ts';

interface Given {
  readonly max?: number;
  readonly maxWaiting?: number;
  readonly maxBytes?: number;
  readonly unreadBytes?: () => number;
}

function requestQueue({
  max = 2,
  maxWaiting = 3,
  maxBytes = 1_000,
  unreadBytes = () => 0,
}: Given = {}): RequestQueue {
  const limits = {
    'limits.requestsPerServer': max,
    'limits.queuePerServer': maxWaiting,
    backlogBytes: maxBytes,
  };
  return new RequestQueue({ server: 's', limits, unreadBytes });
}

interface Asked {
  readonly cancellation: Cancellation;
  /** Undefined while it waits. */
  outcome: 'in' | Refusal | undefined;
}

/** Sends one request to the queue, where it is admitted or waits. */
function ask(queue: RequestQueue, bytes = 1, timeoutMs = 60_000, subject = 'a'): Asked {
  const asked: Asked = { cancellation: new Cancellation(), outcome: undefined };
  if (queue.enter(subject)) asked.outcome = 'in';
  else
    void queue
      .wait({ subject, bytes, timeoutMs, cancellation: asked.cancellation })
      .then((refusal) => (asked.outcome = refusal ?? 'in'));
  return asked;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const busy = (cause: Cause): Refusal => ({ code: 'SERVER_BUSY', server: 's', cause });

describe('subjects that share a server', () => {
  const by = (queue: RequestQueue, subject: string): Asked => ask(queue, 1, 60_000, subject);

  it('take turns, however many requests each has', async () => {
    const queue = requestQueue({ max: 1, maxWaiting: 10 });
    by(queue, 'greedy');
    const greedy = [by(queue, 'greedy'), by(queue, 'greedy'), by(queue, 'greedy')];
    const modest = by(queue, 'modest');
    queue.leave('greedy');
    queue.leave('greedy');
    await turn();
    expect([...greedy, modest].map(({ outcome }) => outcome)).toEqual(['in', undefined, undefined, 'in']);
  });

  it('lose their oldest request to a subject with far fewer queued, but not to one with as many', async () => {
    const queue = requestQueue({ max: 1, maxWaiting: 4 });
    by(queue, 'greedy');
    const greedy = [by(queue, 'greedy'), by(queue, 'greedy'), by(queue, 'greedy'), by(queue, 'greedy')];
    const modest = [by(queue, 'modest'), by(queue, 'modest')];
    const [greedyAgain, modestAgain] = [by(queue, 'greedy'), by(queue, 'modest')];
    await turn();
    const refused = busy({ code: 'QUEUE_FULL', waiting: 4 });
    expect(greedy.map(({ outcome }) => outcome)).toEqual([refused, refused, undefined, undefined]);
    expect(modest.map(({ outcome }) => outcome)).toEqual([undefined, undefined]);
    expect([greedyAgain.outcome, modestAgain.outcome]).toEqual([refused, refused]);
    expect(queue.waiting).toBe(4);
  });
});

describe("the last eighth of a server's slots", () => {
  const by = (queue: RequestQueue, subject: string): Asked => ask(queue, 1, 60_000, subject);
  const outcomes = (asked: readonly Asked[]): readonly Asked['outcome'][] =>
    asked.map(({ outcome }) => outcome);

  it('is reserved for subjects other than the busiest, and is available to them ahead of queued requests', async () => {
    const queue = requestQueue({ max: 16, maxWaiting: 9 });
    const greedy = Array.from({ length: 18 }, () => by(queue, 'greedy'));
    expect(outcomes(greedy)).toEqual([...Array<'in'>(14).fill('in'), ...Array<undefined>(4)]);
    const modest = [by(queue, 'modest'), by(queue, 'modest'), by(queue, 'modest')];
    expect(outcomes(modest)).toEqual(['in', 'in', undefined]);
    queue.leave('modest');
    await turn();
    expect([...outcomes(modest), ...outcomes(greedy.slice(14))]).toEqual([
      'in',
      'in',
      'in',
      ...Array<undefined>(4),
    ]);
  });

  it('is not reserved if the server has fewer than eight', () => {
    const queue = requestQueue({ max: 7 });
    expect(outcomes(Array.from({ length: 7 }, () => by(queue, 'greedy')))).toEqual(Array(7).fill('in'));
  });

  it('makes no subject except the busiest wait while a slot is free', async () => {
    const subjects = ['a', 'b', 'c', 'd'];
    const steps = fc.array(fc.tuple(fc.boolean(), fc.constantFrom(...subjects)), { maxLength: 150 });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 24 }), async (plan, max) => {
        const queue = requestQueue({ max, maxWaiting: 200 });
        const asked: { readonly subject: string; readonly one: Asked }[] = [];
        const held = new Map(subjects.map((subject) => [subject, 0]));
        const count = (subject: string, more: number): void =>
          void held.set(subject, (held.get(subject) ?? 0) + more);
        const isIn = ({ one }: { readonly one: Asked }): boolean => one.outcome === 'in';
        const look = async (): Promise<void> => {
          await Promise.resolve();
          await Promise.resolve();
          for (const subject of subjects) {
            const inside = asked.filter((each) => each.subject === subject && isIn(each)).length;
            held.set(subject, inside - (left.get(subject) ?? 0));
          }
          const total = [...held.values()].reduce((sum, each) => sum + each, 0);
          expect([queue.inFlight, total <= max]).toEqual([total, true]);
          const isKept = max - total <= Math.floor(max / 8);
          for (const { subject } of asked.filter(({ one }) => one.outcome === undefined)) {
            const isGreediest = (held.get(subject) ?? 0) >= Math.max(...held.values());
            expect([subject, total === max || (isKept && isGreediest)]).toEqual([subject, true]);
          }
        };
        const left = new Map<string, number>();
        const leave = (subject: string): void => {
          if ((held.get(subject) ?? 0) === 0) return;
          left.set(subject, (left.get(subject) ?? 0) + 1);
          count(subject, -1);
          queue.leave(subject);
        };
        for (const [comes, subject] of plan) {
          if (comes) asked.push({ subject, one: by(queue, subject) });
          else leave(subject);
          await look();
        }
        for (let more = 0; more < 300 && queue.inFlight > 0; more += 1) {
          for (const subject of subjects) leave(subject);
          await look();
        }
        expect([queue.inFlight, queue.waiting]).toEqual([0, 0]);
        expect(asked.every(isIn)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a request queue', () => {
  it('runs up to its maximum, queues up to its limit, and refuses the rest', async () => {
    const queue = requestQueue({ max: 2, maxWaiting: 1 });
    const asked = Array.from({ length: 4 }, () => ask(queue));
    await turn();
    expect(asked.map(({ outcome }) => outcome)).toEqual([
      'in',
      'in',
      undefined,
      busy({ code: 'QUEUE_FULL', waiting: 1 }),
    ]);
    expect([queue.inFlight, queue.waiting]).toEqual([2, 1]);
    queue.leave('a');
    await turn();
    expect(asked[2]?.outcome).toBe('in');
    expect([queue.inFlight, queue.waiting]).toEqual([2, 0]);
  });

  it('refuses at once if no request may be queued', async () => {
    const queue = requestQueue({ max: 1, maxWaiting: 0 });
    ask(queue);
    const refused = ask(queue);
    await turn();
    expect(refused.outcome).toMatchObject({ code: 'SERVER_BUSY' });
  });

  it('limits the queued bytes, except for one request of any size', async () => {
    const queue = requestQueue({ max: 1, maxBytes: 100, maxWaiting: 9 });
    ask(queue);
    const asked = [ask(queue, 90), ask(queue, 10), ask(queue, 1)];
    await turn();
    expect(asked.map(({ outcome }) => outcome)).toEqual([
      undefined,
      undefined,
      busy({ code: 'QUEUE_TOO_LARGE' }),
    ]);
    const other = requestQueue({ max: 1, maxBytes: 100 });
    ask(other);
    const large = ask(other, 5_000);
    other.leave('a');
    await turn();
    expect(large.outcome).toBe('in');
  });

  it('sends nothing while the server does not read, and then only as many requests as it can take', async () => {
    let unreadBytes = 50;
    const queue = requestQueue({ max: 9, maxBytes: 100, maxWaiting: 9, unreadBytes: () => unreadBytes });
    const asked = [ask(queue, 20), ask(queue, 20), ask(queue, 5)];
    await turn();
    expect(queue.inFlight).toBe(0);
    unreadBytes = 20;
    queue.advance();
    expect(queue.inFlight).toBe(2);
    unreadBytes = 60;
    await turn();
    expect(queue.inFlight).toBe(2);
    unreadBytes = 0;
    queue.advance();
    await turn();
    expect(asked.map(({ outcome }) => outcome)).toEqual(['in', 'in', 'in']);
  });

  it('counts bytes that the server has not read as queued', async () => {
    const queue = requestQueue({ maxBytes: 100, unreadBytes: () => 60 });
    const asked = [ask(queue, 30), ask(queue, 11), ask(queue, 10)];
    await turn();
    expect(asked.map(({ outcome }) => outcome)).toEqual([
      undefined,
      busy({ code: 'QUEUE_TOO_LARGE' }),
      undefined,
    ]);
  });

  it('refuses a request that waited too long, with what it waited for', async () => {
    const full = requestQueue({ max: 1 });
    ask(full);
    const deaf = requestQueue({ unreadBytes: () => 1_000 });
    const asked = [ask(full, 1, 20), ask(deaf, 1, 20)];
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(asked.map(({ outcome }) => outcome)).toEqual([
      busy({ code: 'REQUESTS_IN_FLIGHT', inFlight: 1, waitedMs: 20 }),
      busy({ code: 'INPUT_NOT_READ', waitedMs: 20 }),
    ]);
    expect([full.waiting, deaf.waiting]).toEqual([0, 0]);
  });

  it('frees the slot of a cancelled queued request', async () => {
    const queue = requestQueue({ max: 1, maxWaiting: 1 });
    ask(queue);
    const first = ask(queue);
    first.cancellation.cancel();
    const second = ask(queue);
    queue.leave('a');
    await turn();
    expect([first.outcome, second.outcome]).toEqual([{ code: 'CANCELLED' }, 'in']);
  });

  it('does not queue a request that is already cancelled', async () => {
    const queue = requestQueue({ max: 1 });
    ask(queue);
    const cancellation = new Cancellation();
    cancellation.cancel();
    expect(await queue.wait({ subject: 'a', bytes: 1, timeoutMs: 60_000, cancellation })).toEqual({
      code: 'CANCELLED',
    });
    expect(queue.waiting).toBe(0);
  });

  it('fails all queued and later requests when the server stops', async () => {
    const queue = requestQueue({ max: 1 });
    ask(queue);
    const asked = [ask(queue), ask(queue)];
    queue.stop({ code: 'SHUTTING_DOWN' });
    asked.push(ask(queue));
    await turn();
    expect(asked.map(({ outcome }) => outcome)).toEqual(Array(3).fill({ code: 'SHUTTING_DOWN' }));
    expect([queue.inFlight, queue.waiting]).toEqual([1, 0]);
  });

  it('never exceeds its maximum, keeps the order, loses no request, and ends up empty', async () => {
    type Step = 'come' | 'leave' | 'cancel' | 'turn' | 'clog' | 'clear';
    const steps = fc.array(
      fc.tuple(
        fc.constantFrom<Step>('come', 'come', 'come', 'leave', 'leave', 'cancel', 'turn', 'clog', 'clear'),
        fc.nat(99),
      ),
      { maxLength: 120 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (plan, max) => {
        let unreadBytes = 0;
        const queue = requestQueue({ max, maxWaiting: 6, maxBytes: 200, unreadBytes: () => unreadBytes });
        const asked: Asked[] = [];
        const order: Asked[] = [];
        let left = 0;
        const look = async (): Promise<void> => {
          await Promise.resolve();
          await Promise.resolve();
          for (const one of asked) if (one.outcome === 'in' && !order.includes(one)) order.push(one);
          expect(queue.inFlight).toBe(order.length - left);
          expect(queue.inFlight).toBeLessThanOrEqual(max);
          expect(queue.waiting).toBe(asked.filter(({ outcome }) => outcome === undefined).length);
          expect(queue.waiting).toBeLessThanOrEqual(6);
        };
        for (const [step, number] of plan) {
          if (step === 'come') asked.push(ask(queue, number + 1));
          else if (step === 'leave' && queue.inFlight > 0) {
            left += 1;
            queue.leave('a');
          } else if (step === 'cancel') {
            const waiting = asked.filter(({ outcome }) => outcome === undefined);
            waiting[number % Math.max(1, waiting.length)]?.cancellation.cancel();
          } else if (step === 'clog') unreadBytes = 150;
          else if (step === 'clear') {
            unreadBytes = 0;
            queue.advance();
          } else if (step === 'turn') await turn();
          await look();
        }
        unreadBytes = 0;
        queue.advance();
        for (let more = 0; more < 200 && queue.inFlight + queue.waiting > 0; more += 1) {
          if (queue.inFlight > 0) {
            left += 1;
            queue.leave('a');
          }
          await turn();
          await look();
        }
        expect([queue.inFlight, queue.waiting]).toEqual([0, 0]);
        expect(asked.filter(({ outcome }) => outcome === undefined)).toEqual([]);
        expect(order).toEqual(asked.filter(({ outcome }) => outcome === 'in'));
      }),
      { numRuns: 300 },
    );
  });
});
