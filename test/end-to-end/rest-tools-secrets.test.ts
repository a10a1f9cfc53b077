// A tool's credentials reach the API they are meant for, and nothing else.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connectClient } from '../support/clients.ts';
import { until } from '../support/endings.ts';
import { textAt, type JsonObject } from '../support/json.ts';
import { modernSend } from '../support/modern.ts';
import { tempDir, writeText } from '../support/paths.ts';
import { callText, openRestWorld, sayJson, serveApi } from '../support/rest-tools.ts';
import { runAssay } from '../support/commands.ts';

/** As the operator enters them. */
const SECRETS = {
  bearer: 'bearer-Qw92Er73',
  password: 'passw0rd-of-basic',
  header: 'value-of-header-1',
  query: 'value of query/1',
  fixed: 'fixed-header-value',
  path: 'ghp_0123456789abcdefghijABCDEFGHIJ012345',
};
/** As entered, and in every encoding in which they are sent to the API. */
const FORMS: readonly string[] = [
  ...Object.values(SECRETS),
  encodeURIComponent(SECRETS.query),
  Buffer.from(`ada:${SECRETS.password}`).toString('base64'),
];

const ENTRIES: Readonly<Record<string, JsonObject>> = {
  bearer: { auth: { type: 'bearer', token: SECRETS.bearer } },
  basic: { auth: { type: 'basic', username: 'ada', password: SECRETS.password } },
  header: { auth: { type: 'header', name: 'X-Key', value: SECRETS.header } },
  query: { auth: { type: 'query', name: 'key', value: SECRETS.query } },
  fixed: { headers: { 'X-Fixed': SECRETS.fixed } },
};

/** The secrets contained in a text, in any of their forms. */
const foundIn = (text: string): readonly string[] => FORMS.filter((form) => text.includes(form));

/** All bytes below a folder, file by file. */
function filesIn(folder: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, 'latin1')]);
}

it('a secret never appears in a response, list, log, record, metric or file', async () => {
  const api = await serveApi(({ target }, response) => {
    if (target.startsWith('/hang')) return;
    sayJson(response, { error: 'no' }, target.startsWith('/fails') ? 500 : 200);
  });
  const config = {
    tools: {
      'of-file': {
        url: `${api.url}/fails`,
        method: 'GET',
        auth: { type: 'bearer', token: '${TOKEN_OF_FILE}' },
      },
      'of-bad-file': {
        url: '/relative',
        auth: { type: 'bearer', token: '${TOKEN_OF_FILE}', value: SECRETS.header },
      },
    },
  };
  const { assay, admin, home } = await openRestWorld({
    settings: config,
    env: { TOKEN_OF_FILE: SECRETS.bearer, ASSAY_LOG_LEVEL: 'trace' },
  });
  const outputs: string[] = [];
  const keep = async (
    answer: Promise<{ readonly text: string; readonly headers: unknown }>,
  ): Promise<string> => {
    const { text, headers } = await answer;
    outputs.push(text, JSON.stringify(headers));
    return text;
  };
  for (const [name, entry] of Object.entries(ENTRIES)) {
    for (const path of ['works', 'fails', 'hang']) {
      const input = {
        name: `${name}-${path}`,
        url: `${api.url}/${path}/${SECRETS.path}`,
        method: 'GET',
        timeoutMs: 200,
        ...entry,
      };
      const made = JSON.parse(await keep(admin.post('/tools', input))) as JsonObject;
      const place = `/tools/${textAt(made, 'id')}`;
      await keep(admin.get(place));
      await keep(admin.put(place, { url: `http://nowhere.invalid/${name}` }));
      await keep(
        admin.put(place, {
          ...entry,
          auth: { type: 'bearer', token: SECRETS.bearer, value: SECRETS.header },
        }),
      );
      await keep(admin.put(place, { description: 'Changed.' }));
      await keep(admin.post('/tools', input));
      const params = { name: `${name}-${path}`, arguments: {} };
      await keep(modernSend(assay.url, 'tools/call', { params }));
    }
  }
  await keep(
    admin.post('/tools', {
      name: 'bad',
      url: `${api.url}/x`,
      auth: { type: 'basic', username: `a:${SECRETS.bearer}`, password: `${SECRETS.password}\n` },
    }),
  );
  await keep(
    admin.post('/tools', {
      name: 'bad',
      url: `${api.url}/x`,
      headers: { 'X-A': `${SECRETS.header}\r\n`, Host: SECRETS.fixed },
    }),
  );
  outputs.push(await callText(assay, 'of-file'));
  const client = await connectClient(assay, 'legacy');
  outputs.push(JSON.stringify(await client.listTools()));
  for (const path of [
    '/tools?limit=1000',
    '/gateways',
    '/activity?limit=1000',
    '/openapi.json',
    '/metrics',
    '/health',
  ])
    await keep(admin.get(path));
  for (const args of [
    ['rest', 'list', '--json'],
    ['rest', 'list'],
    ['tools', '--json'],
    ['doctor', '--json'],
    ['rest', 'add', 'by-hand', `${api.url}/x`, '--bearer', SECRETS.bearer, '--json'],
    ['rest', 'add', 'by-hand', `${api.url}/x`, '--bearer', `${SECRETS.bearer} x`],
    ['rest', 'add', 'by-hand-2', `${api.url}/x`, '--header', SECRETS.fixed],
  ]) {
    const { stdout, stderr } = await runAssay([
      ...args,
      '--home',
      home,
      '--config',
      writeText('{"mcpServers":{}}'),
    ]);
    outputs.push(stdout, stderr);
  }
  // The API received each of them, so they were in use.
  const seen = JSON.stringify(api.seen);
  expect(foundIn(seen)).toEqual(FORMS.filter((form) => form !== SECRETS.password && form !== SECRETS.query));
  expect(outputs.length).toBeGreaterThan(200);
  expect(outputs.flatMap(foundIn)).toEqual([]);
  expect(foundIn(assay.stderr())).toEqual([]);
  await until(
    'it is written down',
    () => filesIn(home).some(([path, text]) => path.endsWith('records.json') && text.length > 2) || undefined,
  );
  await assay.stop();
  expect(foundIn(assay.stderr())).toEqual([]);
  const files = filesIn(home);
  expect(files.map(([path]) => path.slice(home.length + 1))).toEqual(
    expect.arrayContaining(['assay.db', 'records.json', 'catalog.json']),
  );
  expect(files.flatMap(([path, text]) => foundIn(text).map((form) => [path, form]))).toEqual([]);
});

it('a secret survives a restart, and can be decrypted only with the key of its home', async () => {
  const api = await serveApi();
  const first = await openRestWorld();
  await first.admin.post('/tools', {
    name: 'keyed',
    url: `${api.url}/x`,
    method: 'GET',
    ...ENTRIES['bearer'],
  });
  await first.assay.stop();
  const again = await openRestWorld({ home: first.home });
  expect(await callText(again.assay, 'keyed')).toBe('{"ok":true}');
  expect(api.seen.at(-1)?.headers.authorization).toBe(`Bearer ${SECRETS.bearer}`);
  await again.assay.stop();
  const copy = tempDir();
  for (const name of ['assay.db', 'records.json'])
    writeFileSync(join(copy, name), readFileSync(join(first.home, name)));
  const stolen = await openRestWorld({ home: copy });
  expect(await callText(stolen.assay, 'keyed')).toMatch(/^refused/);
});
