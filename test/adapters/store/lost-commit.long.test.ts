import { expect, it } from 'vitest';
import { newDatabase } from '../../support/postgres.ts';
import { openPostgresLine } from '../../support/postgres-line.ts';
import { token, valueOf } from '../../support/store-values.ts';
import { openAt } from '../../support/stores.ts';

it('a write whose connection breaks right after COMMIT is answered as saved', async () => {
  const line = await openPostgresLine(await newDatabase());
  const store = await openAt({ home: '', databaseUrl: line.url });
  const cut = line.cutAfterCommit();
  valueOf(await store.addToken(token('a')));
  await cut;
  expect(valueOf(await store.tokens()).map(({ id }) => id)).toEqual(['a']);
});

it('a write whose outcome cannot be read back is answered as unknown, not as unsaved', async () => {
  const databaseUrl = await newDatabase();
  const line = await openPostgresLine(databaseUrl);
  const store = await openAt({ home: '', databaseUrl: line.url });
  void line.cutAfterCommit().then(() => line.cut('all'));
  const added = await store.addToken(token('a'));
  expect(added).toEqual({
    ok: false,
    error: { code: 'WRITE_UNCONFIRMED', reason: 'the connection to it was lost' },
  });
  const direct = await openAt({ home: '', databaseUrl });
  expect(valueOf(await direct.tokens()).map(({ id }) => id)).toEqual(['a']);
});
