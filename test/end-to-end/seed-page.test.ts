// A page on tool annotations, written for another gateway: every command and body on it works here as
// described.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import { cleanEnv } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { at, isObject, parseJson, textAt, type Json } from '../support/json.ts';
import { fixture, ROOT } from '../support/paths.ts';
import { openRestWorld, type RestWorld } from '../support/rest-tools.ts';

const run = promisify(execFile);

interface Block {
  readonly kind: 'bash' | 'json';
  readonly text: string;
}

const PAGE = readFileSync(join(ROOT, 'test', 'fixtures', 'annotations-page.md'), 'utf8');
const BLOCKS: readonly Block[] = [...PAGE.matchAll(/```(bash|json)\n([^]*?)\n```/g)].map(
  ([, kind, text = '']) => ({
    kind: kind === 'bash' ? 'bash' : 'json',
    text,
  }),
);

let setup: RestWorld;
const ids = { tool_id: '', discovered_tool_id: '' };
beforeAll(async () => {
  setup = await openRestWorld({ servers: { plain: fixture('plain') } });
  const tools = (await setup.admin.get('/tools?server=plain&text=echo')).json();
  ids.discovered_tool_id = textAt(tools, 'tools', 0, 'id');
});

/** Runs a block of commands with bash and curl, as a reader would, and returns each response. */
async function answersOf({ text }: Block): Promise<readonly Json[]> {
  const { assay, token } = setup;
  const filled = text
    .replaceAll('{tool_id}', ids.tool_id)
    .replaceAll('{discovered_tool_id}', ids.discovered_tool_id);
  const env = cleanEnv({
    HOST: `http://127.0.0.1:${assay.port}`,
    TOKEN: token,
  });
  // curl prints no line break after a response.
  const script = `curl() { command curl -sS "$@" && echo; }\n${filled}`;
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env });
  return stdout.trim().split('\n').map(parseJson);
}

const commands = BLOCKS.filter(({ kind }) => kind === 'bash');
/** Standalone bodies, without comments: complete tools, and annotations for one. */
const bodies = BLOCKS.filter(({ kind, text }) => kind === 'json' && !/\/\/ |\.\.\./.test(text)).map(
  ({ text }) => parseJson(text),
);
const wholeTools = bodies.filter((body) => at(body, 'name') !== undefined);
const annotated = bodies.filter((body) => at(body, 'name') === undefined);

describe('the commands of the seed page', () => {
  it('create a tool as described, and change it', async () => {
    const [make, update] = commands;
    const [made = null] = await answersOf(make!);
    expect(made).toMatchObject({
      name: 'file-reader',
      url: 'http://example.com/api/read-file',
      description: 'Safely reads file contents',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    });
    ids.tool_id = textAt(made, 'id');
    const [updated] = await answersOf(update!);
    expect(updated).toMatchObject({
      id: ids.tool_id,
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
  });

  it('register a gateway, and annotate the discovered tools', async () => {
    const [, , register, discovered] = commands;
    const [gateway] = await answersOf(register!);
    expect(gateway).toMatchObject({
      name: 'my-mcp-server',
      url: 'http://localhost:8080/sse',
      origin: 'registered',
    });
    const [list = null, tool] = await answersOf(discovered!);
    expect(at(list, 'total')).toBeGreaterThan(1);
    expect(tool).toMatchObject({
      id: ids.discovered_tool_id,
      name: 'plain_echo',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
  });

  it('show a tool as the page shows it', async () => {
    const shown = BLOCKS.findLast(({ kind }) => kind === 'json')!.text.replace(/,\s*\.\.\.\s*\}$/, '}');
    const { id: _, ...expected } = parseJson(shown) as Readonly<Record<string, Json>>;
    // The page shows the tool as it was created; its own PUT, which names two hints, has removed the others since.
    await setup.admin.put(`/tools/${ids.tool_id}`, { annotations: expected['annotations'] });
    const [tool] = await answersOf(commands.at(-1)!);
    expect(tool).toMatchObject(expected);
  });

  it('are all covered here', () => {
    expect([commands.length, wholeTools.length, annotated.length]).toEqual([5, 3, 4]);
  });
});

describe('the bodies of the seed page', () => {
  it.each(wholeTools.map((body) => [textAt(body, 'name'), body] as const))(
    'create %s with exactly the annotations they contain',
    async (name, body) => {
      const made = await setup.admin.post('/tools', body);
      expect(verdictOf(made)).toBe('201');
      expect(made.json()).toMatchObject(body as object);
      const expected = at(body, 'annotations');
      const decided = Object.entries(at(made.json(), 'hints') as Readonly<Record<string, Json>>)
        .filter(([, hint]) => at(hint, 'decidedBy') === 'declared')
        .map(([hint]) => hint);
      expect(decided.toSorted()).toEqual(Object.keys(isObject(expected) ? expected : {}).toSorted());
      const client = await connectClient(setup.assay, 'modern');
      const listed = (await client.listTools()).tools.find((tool) => tool.name === name);
      expect(listed?.annotations).toMatchObject(expected as object);
    },
  );

  it.each(annotated.map((body) => [JSON.stringify(body), body] as const))(
    'annotate a tool with %s',
    async (_, body) => {
      const values = at(body, 'annotations') ?? body;
      const changed = await setup.admin.put(`/tools/${ids.discovered_tool_id}`, { annotations: values });
      expect(changed.json()).toMatchObject({ annotations: values });
    },
  );

  it('are refused if the page warns against them', async () => {
    const text = BLOCKS.find((block) => block.text.includes('Avoid'))!.text;
    const [good = '', bad = ''] = [...text.matchAll(/\{[^{}]*\}/g)].map(([one]) =>
      one.replace(/\/\/.*/g, ''),
    );
    const path = `/tools/${ids.discovered_tool_id}`;
    expect(verdictOf(await setup.admin.put(path, { annotations: parseJson(good) }))).toBe('200');
    expect(verdictOf(await setup.admin.put(path, { annotations: parseJson(bad) }))).toBe(
      '422 HINTS_CONTRADICT',
    );
    const made = await setup.admin.post('/tools', {
      name: 'both',
      url: 'http://example.com/',
      annotations: parseJson(bad),
    });
    expect([verdictOf(made), at(made.json(), 'errors', 0, 'pointer')]).toEqual([
      '422 HINTS_CONTRADICT',
      '/annotations',
    ]);
  });
});
