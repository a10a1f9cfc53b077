import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../../../../../test/support/endings.ts';
import {
  moduleOf,
  openedModule,
  type OpenedModule,
} from '../../../../../../test/support/function-modules.ts';

const MiB = 1024 * 1024;
const BUSY =
  '! The functions in tools.mjs are busy: they have not read the arguments of earlier calls yet. Try again later.';

const open = (): OpenedModule =>
  openedModule(
    moduleOf(
      {
        block: '({ file }) => { while (!fs.existsSync(file)); return "free"; }',
        size: '({ text }) => String(text.length)',
      },
      `import fs from 'node:fs';`,
    ),
  );

describe('a module that does not read its input', () => {
  it('is buffered for one second, refused more than a mebibyte after that, and served again once it reads', async () => {
    const module = open();
    await module.say('size', { text: '' });
    let drains = 0;
    module.source.onDrain?.(() => (drains += 1));
    const blocked = module.say('block', { file: join(module.folder, 'go') });
    await sleep(100);
    const large = module.say('size', { text: 'x'.repeat(3 * MiB) });
    await sleep(100);
    expect(module.source.unreadBytes).toBeGreaterThan(2 * MiB);
    expect(drains).toBe(0);
    await sleep(1_200);
    expect(module.source.unreadBytes).toBe(0);
    expect(drains).toBe(1);
    expect(await module.say('size', { text: 'more' })).toBe(BUSY);
    module.write('go', '');
    expect(await blocked).toBe('free');
    expect(await large).toBe(String(3 * MiB));
    expect(await module.say('size', { text: 'more' })).toBe('4');
    expect(module.source.unreadBytes).toBe(0);
    expect(drains).toBeGreaterThan(1);
  });

  it('gets all calls of a burst once it reads again', async () => {
    const module = open();
    await module.say('size', { text: '' });
    const text = 'x'.repeat(MiB / 4);
    const sizes = await Promise.all(Array.from({ length: 32 }, () => module.say('size', { text })));
    expect(new Set(sizes)).toEqual(new Set([String(MiB / 4)]));
  });
});

describe('arguments of more than 8 MiB', () => {
  it('are refused, and smaller ones full of quotes are accepted', async () => {
    const module = open();
    expect(await module.say('size', { text: 'x'.repeat(8 * MiB) })).toBe(
      '! The arguments are too large: they are 8.1 MiB of JSON, and the functions in tools.mjs take at most 8 MiB.',
    );
    expect(await module.say('size', { text: '"'.repeat(3 * MiB) })).toBe(String(3 * MiB));
  });
});
