import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openedModule } from '../../../../../../test/support/function-modules.ts';
import { parseJson } from '../../../../../../test/support/json.ts';
import { ROOT } from '../../../../../../test/support/paths.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'FUNCTIONS.md'), 'utf8');
const EXAMPLE = /```ts\n\/\/ (\S+)\n([^]*?)```\n\n```transcript\n([^]*?)\n```/g;
const examples = [...GUIDE.matchAll(EXAMPLE)].map(
  ([, name = '', text = '', transcript = '']) => [name, `// ${name}\n${text}`, transcript] as const,
);

describe('docs/FUNCTIONS.md', () => {
  it('has examples', () => {
    expect(examples.map(([name]) => name)).toEqual(['greet.ts', 'shop.mjs', 'tidy.ts']);
  });

  it.each(examples)('documents what a model gets from %s', async (name, text, transcript) => {
    const module = openedModule({ [name]: text });
    const lines: string[] = [];
    for (const line of transcript.split('\n')) {
      const [, tool, args = '{}'] = /^→ (\S+) (.*)$/.exec(line) ?? [];
      if (tool === undefined) continue;
      const accept = async () =>
        ({ ok: true, value: { action: 'accept', content: { sure: true } } }) as const;
      const { content } = await module.call(tool, parseJson(args) as object, { ask: accept });
      lines.push(line, String(content[0]?.['text']), '');
    }
    expect(lines.slice(0, -1).join('\n')).toBe(transcript);
  });
});
