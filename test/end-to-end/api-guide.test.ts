import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import { startGateway } from '../support/gateway.ts';
import { at, isObject, parseJson } from '../support/json.ts';
import { installed, ROOT } from '../support/paths.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'API.md'), 'utf8');

/** A line of the transcript that asks. */
const ASKING = /^→ ([A-Z]+) (\S+)(?: (\{.*\}))?$/;

const METHOD = /\b(?:get|post|put|patch|delete)\b/g;

const CHANCE = /"(?:\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{12}|assay_\w+|MT\w+)"/g;

it('the transcript of docs/API.md is what a client gets', async () => {
  const transcript = /```transcript\n([^]*?)\n```/.exec(GUIDE)?.[1] ?? '';
  const assay = await startGateway({ servers: { everything: installed('everything', ['stdio']) } });
  await assay.settled();
  const client = adminClient(assay, readFileSync(join(assay.home, 'admin-token'), 'utf8').trim());
  const lines: string[] = [];
  for (const line of transcript.split('\n')) {
    const [, method, path = '', body] = ASKING.exec(line) ?? [];
    if (method === undefined) continue;
    const answer = await client.ask(method, path, { body });
    lines.push(line, `${answer.status} ${answer.text.replaceAll(CHANCE, '"…"')}`, '');
  }
  expect(lines.length).toBeGreaterThan(12);
  expect(lines.slice(0, -1).join('\n')).toBe(transcript);
});

it('docs/API.md lists every path with its methods', async () => {
  const assay = await startGateway({ servers: {} });
  const paths = at(parseJson((await adminClient(assay).get('/openapi.json')).text), 'paths');
  const there = Object.entries(isObject(paths) ? paths : {}).map(
    ([path, item]) => [path, isObject(item) ? Object.keys(item).sort() : []] as const,
  );
  const rows = [...GUIDE.matchAll(/^\| `(\/[^`]+)`.*\|([^|]+)\|$/gm)].map(
    ([, path = '', methods = '']) => [path, (methods.toLowerCase().match(METHOD) ?? []).sort()] as const,
  );
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(there));
});
