import { describe, expect, it } from 'vitest';
import { derivedKeysOf } from '../../../../test/support/encryption-keys.ts';
import { endAfterEach } from '../../../../test/support/end-after-each.ts';
import { endLater, until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { openAt, rawRows } from '../../../../test/support/stores.ts';
import { valueOf } from '../../../../test/support/store-values.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { ANSWER_LIMITS } from '../../src/gateway/ports/legacy-sessions.ts';
import { SessionAnswers } from '../../src/gateway/catalog/session-answers.ts';
import type { Sealer } from '../../src/gateway/ports/sealing.ts';
import type { Store } from '../../src/gateway/ports/store.ts';
import { KeySealer } from '../../src/adapters/auth/sealer.ts';
import { SILENT } from './listed-server.ts';

endAfterEach();

const SKEW_MS = 5 * 60_000;

const sealerOn = (store: Store): Sealer =>
  new KeySealer({
    derivedKeys: derivedKeysOf(false),
    openStore: () => Promise.resolve(ok(store)),
    log: SILENT,
  });

interface Replica {
  readonly answers: SessionAnswers;
  readonly received: string[];
  isUp: boolean;
  attempts: number;
}

function replicaOn(store: Store, { skewMs = 0, waitMs = 60_000 } = {}): Replica {
  const replica: Replica = {
    ...{ received: [], isUp: true, attempts: 0 },
    answers: new SessionAnswers({
      open: () => {
        replica.attempts += 1;
        return Promise.resolve(
          replica.isUp ? ok(store) : err({ code: 'STORE_UNAVAILABLE', reason: 'stopped' }),
        );
      },
      storeRetry: { waitMs, retryMs: 1 },
      sealer: sealerOn(store),
      nowMs: () => Date.now() + skewMs,
      log: SILENT,
      replica: crypto.randomUUID(),
      createId: () => crypto.randomUUID(),
    }),
  };
  endLater(() => {
    replica.answers.close();
    return Promise.resolve();
  });
  return replica;
}

async function listen({ answers, received }: Replica): Promise<void> {
  await answers.start({
    isWaiting: () => true,
    receive: ({ bytes }) => received.push(bytes.toString()),
  });
}

const answerOf = (text: string): Parameters<SessionAnswers['pass']>[1] => ({
  ...{ session: 's', subject: 'ada', bytes: Buffer.from(text) },
});
const openStore = (): Promise<Store> => openAt({ home: tempDir(), databaseUrl: undefined });

describe('an answer that arrives at another replica', () => {
  it.each([-SKEW_MS, SKEW_MS])('arrives if the clock there differs by %s ms', async (skewMs) => {
    const store = await openStore();
    const [asking, other] = [replicaOn(store), replicaOn(store, { skewMs })];
    await listen(asking);
    expect(await other.answers.pass(asking.answers.replica, answerOf('yes'))).toEqual(ok(undefined));
    await until('it arrives', () => (asking.received.length > 0 ? true : undefined));
    expect(asking.received).toEqual(['yes']);
  });

  it('waits while the store is away', async () => {
    const store = await openStore();
    const [asking, other] = [replicaOn(store), replicaOn(store)];
    await listen(asking);
    other.isUp = false;
    const passing = other.answers.pass(asking.answers.replica, answerOf('yes'));
    await until('it is tried again', () => (other.attempts > 2 ? true : undefined));
    other.isUp = true;
    expect(await passing).toEqual(ok(undefined));
    await until('it arrives', () => (asking.received.length > 0 ? true : undefined));
    expect(asking.received).toEqual(['yes']);
  });

  it('is refused if the store stays away, or if many of the same caller wait', async () => {
    const store = await openStore();
    const hasty = replicaOn(store, { waitMs: 5 });
    const patient = replicaOn(store);
    const codeOf = async (passing: ReturnType<SessionAnswers['pass']>): Promise<string> => {
      const passed = await passing;
      return passed.ok ? 'ok' : passed.error.code;
    };
    for (const replica of [hasty, patient]) replica.isUp = false;
    expect(await codeOf(hasty.answers.pass('r', answerOf('late')))).toBe('ANSWER_UNDELIVERED');
    const waiting = Array.from({ length: ANSWER_LIMITS.perSubject }, () =>
      codeOf(patient.answers.pass('r', answerOf('one'))),
    );
    expect(await codeOf(patient.answers.pass('r', answerOf('more')))).toBe('ANSWER_UNDELIVERED');
    patient.isUp = true;
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'ok'));
  });
});

it('answers that no replica reads are removed when they have expired', async () => {
  const place = { home: tempDir(), databaseUrl: undefined };
  const store = await openAt(place);
  let nowMs = Date.now();
  const answers = new SessionAnswers({
    ...{ open: () => Promise.resolve(ok(store)), sealer: sealerOn(store), log: SILENT, replica: 'one' },
    ...{ nowMs: () => nowMs, createId: () => crypto.randomUUID() },
  });
  endLater(() => {
    answers.close();
    return Promise.resolve();
  });
  await answers.start({ isWaiting: () => false, receive: () => undefined });
  valueOf(await answers.pass('ended', { session: 's', subject: 'ada', bytes: Buffer.from('{}') }));
  await rawRows(place, `update assay_session_answers set expires_ms = expires_ms - ${ANSWER_LIMITS.keptMs}`);
  const countAfterSweep = async (): Promise<number> => {
    await answers.sweep();
    return (await rawRows(place, 'select id from assay_session_answers')).length;
  };
  expect(await countAfterSweep()).toBe(1);
  nowMs += ANSWER_LIMITS.keptMs;
  expect(await countAfterSweep()).toBe(0);
});
