import { describe, expect, it } from 'vitest';
import { inspectStore } from '../../../src/adapters/store/inspect-store.ts';
import { contentOf, DATABASES, openAt } from '../../../../../test/support/stores.ts';

describe.each(DATABASES)('a store in %s', (name, newPlace) => {
  it('is reported intact while it is open and afterwards, and is left unchanged', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    expect(await inspectStore(place)).toMatchObject({ is: 'whole' });
    await store.close();
    const before = await contentOf(place);
    expect(await inspectStore(place)).toMatchObject({ is: 'whole' });
    expect(await contentOf(place)).toEqual(before);
  });

  it('is not created by its inspection', async () => {
    const place = await newPlace();
    // An empty PostgreSQL database counts as intact, although it has no tables yet.
    expect(await inspectStore(place)).toMatchObject({ is: name === 'SQLite' ? 'absent' : 'whole' });
    expect(await inspectStore(place)).toMatchObject({ is: name === 'SQLite' ? 'absent' : 'whole' });
  });
});
