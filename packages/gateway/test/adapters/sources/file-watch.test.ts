import { expect, it } from 'vitest';
import { FileWatch } from '../../../src/adapters/sources/file-watch.ts';

it("a thousand of a module's files are watched, however many there are, each once, and none by an endless path", () => {
  const watched: string[] = [];
  const watch = new FileWatch(
    (path) => {
      watched.push(path);
      return { close: () => {} };
    },
    () => undefined,
  );
  watch.add(`/${'x'.repeat(1_000_000)}`);
  for (let time = 0; time < 2; time += 1)
    for (let index = 0; index < 20_000; index += 1) watch.add(`/nowhere/${index}`);
  watch.close();
  expect(watched).toEqual(Array.from({ length: 1_000 }, (_, index) => `/nowhere/${index}`));
});
