import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseJson, type JsonObject } from '../support/json.ts';
import { installed, ROOT } from '../support/paths.ts';
import { overHttp, type Model } from '../support/toolsets.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'TOOLSETS.md'), 'utf8');

/** A request line of the transcript. */
const REQUEST_LINE = /^→ (\S+)(?: (\{.*\}))?$/;

async function answered(model: Model, name: string, args: string): Promise<string> {
  if (name === 'tools/list') return (await model.tools()).join('\n');
  if (name.startsWith('describe:')) return (await model.describe(name.slice('describe:'.length))) ?? '';
  return model.call(name, parseJson(args) as JsonObject).then(
    ({ text }) => text,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

it('the transcript in docs/TOOLSETS.md shows exactly what a model gets', async () => {
  const transcript = /```transcript\n([^]*?)\n```/.exec(GUIDE)?.[1] ?? '';
  const servers = { everything: installed('everything', ['stdio']), memory: installed('memory') };
  const model = await overHttp({ servers }, 'legacy');
  const lines: string[] = [];
  for (const line of transcript.split('\n')) {
    const [, name, args = '{}'] = REQUEST_LINE.exec(line) ?? [];
    if (name !== undefined) lines.push(line, await answered(model, name, args), '');
  }
  expect(lines.length).toBeGreaterThan(30);
  expect(lines.slice(0, -1).join('\n')).toBe(transcript);
});
