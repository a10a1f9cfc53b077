import { describe, expect, it } from 'vitest';
import { isAlive, until } from '../../../../../../test/support/endings.ts';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { moduleOf, openedModule, pidOf } from '../../../../../../test/support/function-modules.ts';

const saying = (text: string): string =>
  `import { word } from './lib/word.ts';
   const wait = ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms)).then(() => '${text} ' + word);
   export default [
     { name: 'say', run: () => '${text} ' + word },
     { name: 'wait', input: { type: 'object' }, run: wait },
     { name: 'pid', run: () => process.pid },
   ];`;
const FILES = { 'tools.ts': saying('one'), 'lib/word.ts': `export const word: string = 'word';` };

describe('a changed module', () => {
  it('serves new calls in its new version, while running calls finish in the old one', async () => {
    const module = openedModule(FILES, { isWatched: true });
    const before = await pidOf(module);
    const waiting = module.say('wait', { ms: 2_500 });
    let changes = 0;
    module.source.onChange(() => (changes += 1));
    module.write('tools.ts', saying('two'));
    await until('the new one', async () => ((await module.say('say')) === 'two word' ? true : undefined));
    expect(await pidOf(module)).not.toBe(before);
    expect(isAlive(before)).toBe(true);
    expect(await waiting).toBe('one word');
    await until('the old one is gone', () => (isAlive(before) ? undefined : true));
    expect(changes).toBe(0);
  });

  it('is detected also through the files it imports, and announces changed tools', async () => {
    const module = openedModule(FILES, { isWatched: true });
    await module.read();
    const changes: string[] = [];
    const stop = module.source.onChange(() => changes.push('changed'));
    module.write('lib/word.ts', `export const word = 'other';`);
    await until('the other word', async () => ((await module.say('say')) === 'one other' ? true : undefined));
    expect(changes).toEqual([]);
    const [say] = (await module.read()).tools;
    module.write('tools.ts', `export default { name: 'sole', description: 'New.', run: () => 'sole' };`);
    await until('a change', () => changes[0]);
    expect((await module.read()).tools.map(({ definition }) => definition.name)).toEqual(['sole']);
    const cancellation = new Cancellation();
    const nothing = (): void => undefined;
    const late = say?.run(
      { values: {}, text: '{}' },
      { cancellation, progress: nothing, log: nothing, ask: async () => ({ ok: false, error: '' }) },
    );
    expect(await late).toEqual({
      content: [{ type: 'text', text: 'The module has no such tool any more.' }],
      isError: true,
    });
    stop();
  });

  it('that is broken keeps serving the last working version, says so in the log, and recovers with the next edit', async () => {
    const module = openedModule(FILES, { isWatched: true });
    const pid = await pidOf(module);
    module.write('tools.ts', `${saying('two')}\nexport const x = ;`);
    const line = await until('the fault', () => module.logged.find((one) => one.startsWith('warn')));
    expect(line).toMatch(
      /^warn changed function module cannot be loaded; the previous version is still served \{"fault":"SyntaxError: .* \(tools\.ts:8:\d+\)"\}$/,
    );
    expect(await module.say('say')).toBe('one word');
    expect(await pidOf(module)).toBe(pid);
    module.write('tools.ts', saying('three'));
    await until('the mended one', async () =>
      (await module.say('say')) === 'three word' ? true : undefined,
    );
  });

  it('is served once a module that never worked is fixed', async () => {
    const module = openedModule({ 'tools.ts': 'export const x = ;' }, { isWatched: true });
    expect(await module.fault()).toMatch(/tools\.ts:1:18/);
    const changed = new Promise<void>((resolve) => module.source.onChange(resolve));
    module.write('tools.ts', moduleOf({ say: `() => 'mended'` })['tools.mjs'] ?? '');
    await changed;
    expect(await module.say('say')).toBe('mended');
  });
});
