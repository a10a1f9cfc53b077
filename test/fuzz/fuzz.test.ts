import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';

const FOLDER = import.meta.dirname;
const targets = readdirSync(join(FOLDER, 'targets')).map((file) => file.replace(/\.ts$/, ''));

/** The cases are seeds and past findings of the fuzzer. */
describe.each(targets)('the fuzz target %s', async (target) => {
  const { fuzz } = (await import(`./targets/${target}.ts`)) as { fuzz: (bytes: Buffer) => unknown };
  it.each(readdirSync(join(FOLDER, 'cases', target)))('holds for %s', async (name) => {
    await fuzz(readFileSync(join(FOLDER, 'cases', target, name)));
  });
});
