import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { at, parseJson, textAt, type JsonObject } from '../support/json.ts';
import { MAIN, ROOT, writeConfig } from '../support/paths.ts';
import { callText, openRestWorld, sayJson, serveApi } from '../support/rest-tools.ts';

const run = promisify(execFile);
const GUIDE = readFileSync(join(ROOT, 'docs', 'SOURCES.md'), 'utf8');
const PART = GUIDE.slice(GUIDE.indexOf('## REST tools')).split(/\n## (?!REST tools)/)[0] ?? '';
const API_TOKEN = 'k3y-of-the-api';

const blocks = [...PART.matchAll(/```(sh|json)\n([^]*?)\n```/g)].map(([, kind = '', text = '']) => ({
  kind,
  text,
}));

it('every REST tool command in docs/SOURCES.md prints the output shown below it', async () => {
  const api = await serveApi((_, response) =>
    sayJson(response, { name: 'Ada', contact: { mail: 'ada@example.com' }, more: 'x' }),
  );
  const [config] = blocks.filter(({ kind }) => kind === 'json');
  const file = writeConfig({}, parseJson(config!.text) as JsonObject);
  const env = { API: api.url, API_TOKEN, ASSAY_HTTP_ALLOW_LOOPBACK: 'true' };
  const { assay, admin, token, home } = await openRestWorld({ config: file, env });

  expect(await callText(assay, 'get-user', { id: 'ada' })).toBe('{"name":"Ada","mail":"ada@example.com"}');
  expect(api.seen.at(-1)).toMatchObject({
    target: '/users/ada',
    headers: { authorization: `Bearer ${API_TOKEN}` },
  });

  const shell = cleanEnv({
    ...env,
    ASSAY: `http://127.0.0.1:${assay.port}`,
    TOKEN: token,
    ASSAY_HOME: home,
    ASSAY_CONFIG: file,
  });
  let id = '';
  for (const [place, { kind, text }] of blocks.entries()) {
    if (kind !== 'sh') continue;
    const script = `curl() { command curl -sS "$@"; }\nassay() { "${process.execPath}" "${MAIN}" "$@"; }\n${text}`;
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env: { ...shell, ID: id } });
    const below = blocks[place + 1];
    if (below?.kind !== 'json') continue;
    const answer = parseJson(stdout);
    expect({ text, answer }).toMatchObject({ text, answer: parseJson(below.text) });
    if (at(answer, 'name') === 'list_orders') id = textAt(answer, 'id');
  }
  expect(api.seen.map(({ target }) => target)).toContain('/users?limit=20&q=ada');
  expect((await admin.get(`/tools/${id}`)).status).toBe(404);
  expect(blocks.filter(({ kind }) => kind === 'sh')).toHaveLength(7);
});
