// One use case of notes on two surfaces: the REST API of a gateway, and commands on the same home.
import { bundleWith } from '../support/bundles.ts';
import { beforeAll, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { bodiesIn } from '../support/bundles.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { type JsonObject, at, listAt, parseJson, type Json } from '../support/json.ts';
import { fixture, tempDir, writeConfig, writeText } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const NOTES = '/tools/plain.echo/notes';
const WRITTEN = { author: 'agent', by: 'model', writtenAt: '2026-01-02T03:04:05.006Z' };
const held = (name: string): Json => ({ name, note: `About ${name}.`, ...WRITTEN, isHeld: true });
/** A bundle with a toolset of one tool that has these notes. */
const bundleOf = (name: string, tool: string, notes: readonly Json[], maker?: Json): JsonObject => {
  const writtenMs = Date.parse(WRITTEN.writtenAt);
  const stored = notes.map((note) => {
    const { writtenAt: _, ...rest } = note as typeof WRITTEN;
    return { ...rest, writtenMs };
  });
  const toolNotes = [{ namespacedName: tool, notes: stored }];
  const toolset = { name, createdMs: 0, changedMs: 0, tools: [{ namespacedName: tool }], toolNotes };
  return bundleWith({ toolset: [{ ...toolset, ...(maker !== undefined && { maker }) }] });
};

const home = tempDir();
const servers = { plain: fixture('plain') };
const config = writeConfig(servers);
let admin: AdminClient;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const notes = ['one', 'two', 'three'].map(held);
  const bundle = bundleOf('dev', 'plain.echo', notes, { by: 'model', subject: 'agent' });
  const place = ['--home', home, '--config', config];
  expect(await runAssay(['import', writeText(JSON.stringify(bundle)), '--apply', ...place])).toMatchObject({
    code: 0,
  });
  const assay = await startGateway({ servers, home });
  admin = adminClient(assay, token);
  await assay.settled();
});

it('a note is listed and deleted where no server has its tool', async () => {
  const notes = [{ ...(held('old') as object), isHeld: false }];
  const bundle = bundleOf('past', 'gone.tool', notes);
  expect(verdictOf(await admin.post('/import', { bundle, apply: true }))).toBe('200');
  const place = { toolset: 'past', tool: 'gone.tool' };
  expect((await admin.get('/notes?toolset=past&held=false')).json()).toEqual({
    notes: [{ ...place, ...notes[0] }],
  });
  expect((await admin.get('/notes?toolset=past&held=true')).json()).toEqual({ notes: [] });
  expect((await admin.post('/notes', { ...place, name: 'more', note: 'x' })).status).toBe(201);
  expect(verdictOf(await admin.delete('/notes/past/gone.tool/old'))).toBe('200');
  expect(
    listAt((await admin.get('/notes?toolset=past')).json(), 'notes').map((one) => at(one, 'name')),
  ).toEqual(['more']);
  expect(verdictOf(await admin.get('/notes?toolset=nope'))).toBe('404 TOOLSET_UNKNOWN');
});

const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
  runAssay(['notes', ...args, '--home', home]);
const detailOf = (answer: Awaited<ReturnType<AdminClient['get']>>): string =>
  String(at(answer.json(), 'detail'));

it('a note accepted through REST or a command keeps its author, and the toolset its maker', async () => {
  const accepted = await admin.post(`${NOTES}/dev/one/accept`);
  expect(verdictOf(accepted)).toBe('200');
  expect(listAt(accepted.json(), 'notes').slice(0, 2)).toEqual([
    { toolset: 'dev', tool: 'plain.echo', ...(held('one') as object), isHeld: false },
    { toolset: 'dev', tool: 'plain.echo', ...(held('two') as object) },
  ]);
  const { stdout } = await run('accept', 'dev', 'plain.echo', 'two', '--json');
  expect(at(parseJson(stdout), 'notes', 1)).toEqual({
    ...{ toolset: 'dev', tool: 'plain.echo', ...(held('two') as object), isHeld: false },
  });
  const [toolset = null] = bodiesIn((await admin.get('/export')).json(), 'toolset');
  expect(at(toolset, 'maker', 'by')).toBe('model');
});

it('a note is accepted only if it is what the operator saw', async () => {
  const { headers } = await admin.get(NOTES);
  const seen = { 'if-match': String(headers.etag) };
  expect((await admin.put(`${NOTES}/dev/two`, { position: 1 })).status).toBe(200);
  const path = `${NOTES}/dev/three/accept`;
  expect(verdictOf(await admin.post(path, undefined, seen))).toBe('412 PRECONDITION_FAILED');
  expect((await admin.post(path)).status).toBe(200);
});

it.each([
  ['NOTE_ACCEPTED', '409', () => admin.post(`${NOTES}/dev/one/accept`), ['accept', 'one']],
  ['NOTE_UNKNOWN', '404', () => admin.post(`${NOTES}/dev/none/accept`), ['accept', 'none']],
  [
    'NOTE_EXISTS',
    '409',
    () => admin.post(NOTES, { toolset: 'dev', name: 'one', note: 'Once.' }),
    ['add', 'one', 'Once.'],
  ],
] as const)(
  '%s is one fault, told in the same words by REST and the command',
  async (code, status, ask, [verb, name, ...text]) => {
    const refused = await ask();
    expect(verdictOf(refused)).toBe(`${status} ${code}`);
    expect(await run(verb, 'dev', 'plain.echo', name, ...text)).toMatchObject({
      code: 2,
      stderr: `assay: ${detailOf(refused)}\n`,
    });
  },
);

it.each([
  ['position', 'put', `${NOTES}/dev/one`, { position: 4 }, ['move', 'one', '4']],
  ['name', 'post', NOTES, { toolset: 'dev', name: 'No!', note: 'x' }, ['add', 'No!', 'x']],
  ['note', 'put', `${NOTES}/dev/one`, { note: ' ' }, ['edit', 'one', ' ']],
] as const)(
  'a wrong %s is refused for the same reason by both',
  async (field, method, path, body, [verb, name, text]) => {
    const refused = await admin[method](path, body);
    expect([verdictOf(refused), at(refused.json(), 'errors', 0, 'pointer')]).toEqual([
      '422 BODY_INVALID',
      `/${field}`,
    ]);
    const reason = String(at(refused.json(), 'errors', 0, 'detail'));
    expect((await run(verb, 'dev', 'plain.echo', name, text)).stderr).toBe(`assay: ${field}: ${reason}\n`);
  },
);
