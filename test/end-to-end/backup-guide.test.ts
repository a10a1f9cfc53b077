import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readBundle } from '../../packages/gateway/src/core/bundle/read-bundle.ts';
import { runAssay } from '../support/commands.ts';
import { PASSPHRASE } from '../support/bundles.ts';
import { parseJson } from '../support/json.ts';
import { ROOT, tempDir, writeConfig } from '../support/paths.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'BACKUP.md'), 'utf8');

/** Words of the transcript that are folders or files. */
const PATHS: ReadonlySet<string> = new Set(['old', 'new', 'assay.json', 'sealed.json', 'passphrase']);

it('the commands of docs/BACKUP.md print its transcript', async () => {
  const transcript = /```transcript\n([^]*?)\n```/.exec(GUIDE)?.[1] ?? '';
  const folder = tempDir();
  writeFileSync(join(folder, 'passphrase'), `${PASSPHRASE}\n`);
  const env = { ASSAY_CONFIG: writeConfig({}) };
  const lines: string[] = [];
  for (const line of transcript.split('\n').filter((one) => one.startsWith('$ assay '))) {
    const words = line.slice('$ assay '.length).split(' ');
    const args = words.map((word) => (PATHS.has(word) ? join(folder, word) : word));
    const { code, stdout, stderr } = await runAssay(args, { env });
    expect([line, code]).toEqual([line, 0]);
    lines.push(line, `${stdout}${stderr}`.replaceAll(`${folder}/`, ''));
  }
  expect(lines.length).toBeGreaterThan(8);
  expect(lines.join('\n').trim()).toBe(transcript);
});

it('the bundle of docs/BACKUP.md can be read', () => {
  const example = /```json\n([^]*?)\n```/.exec(GUIDE)?.[1] ?? '';
  expect(readBundle(parseJson(example), 0).ok).toBe(true);
});
