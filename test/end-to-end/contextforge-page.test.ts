// ContextForge's page about annotations: each request block is sent as it is printed there. Replaced are only the
// host and port, the token, and the ids in braces.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { startHttp } from '../fixtures/http.ts';
import { endLater } from '../support/endings.ts';
import { send, type Answer } from '../support/http.ts';
import { at, isObject, listAt, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { ROOT } from '../support/paths.ts';
import { openRestWorld, type RestWorld } from '../support/rest-tools.ts';

const PAGE = readFileSync(join(ROOT, '..', 'shared', 'seeds', 'contextforge-tool-annotations.md'), 'utf8');

interface Block {
  readonly title: string;
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of the page, each with the heading above it, without emphasis and numbers. */
function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let title = '';
  for (const [, heading, language, text] of page.matchAll(/^#+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (heading !== undefined) title = heading.replace(/[*]|\d\. /g, '');
    else blocks.push({ title, language: language ?? '', text: text ?? '' });
  }
  return blocks;
}

/** The arguments of a shell command, which uses only quotes and `\` at the end of a line. */
function wordsOf(command: string): readonly string[] {
  const words = command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return [...words].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
}

interface CurlRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

function curlRequestsOf(text: string): readonly CurlRequest[] {
  return text
    .split(/^(?=curl )/m)
    .filter((part) => part.startsWith('curl '))
    .map((command) => {
      const [, ...words] = wordsOf(command.replace(/^#.*$/gm, ''));
      const headers: Record<string, string> = {};
      let [method, target, body]: [string | undefined, string, string | undefined] = [
        undefined,
        '',
        undefined,
      ];
      for (let index = 0; index < words.length; index += 1) {
        const word = words[index] ?? '';
        const value = words[index + 1] ?? '';
        if (word === '-X') method = value;
        else if (word === '-d') body = value;
        else if (word === '-H') headers[value.split(': ')[0] ?? ''] = value.split(': ')[1] ?? '';
        else target = word;
        if (word.startsWith('-')) index += 1;
      }
      return { method: method ?? (body === undefined ? 'GET' : 'POST'), target, headers, body };
    });
}

const BLOCKS = blocksOf(PAGE);
const CURLS = BLOCKS.filter(({ language }) => language === 'bash').flatMap(({ title, text }) =>
  curlRequestsOf(text).map((request) => ({ title, request })),
);
const JSONS = BLOCKS.filter(({ language }) => language === 'json');

let world: RestWorld;
let sse: { readonly url: string };
beforeAll(async () => {
  const upstream = await startHttp('sse');
  endLater(() => upstream.close());
  sse = upstream;
  world = await openRestWorld();
});

/** Ids of tools, by the word in braces that stands for it. */
const ids = new Map<string, string>();

function sendAsPrinted({ method, target, headers, body }: CurlRequest): Promise<Answer> {
  const path = target
    .replace(/^http:\/\/localhost:4444/, '')
    .replace(/\{(\w+)\}/, (_, name: string) => ids.get(name) ?? `no ${name}`);
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('$TOKEN', world.token)]),
  );
  return send(`http://127.0.0.1:${world.assay.port}${path}`, {
    method,
    headers: sent,
    ...(body !== undefined && { body: body.replace('http://localhost:8080', new URL(sse.url).origin) }),
  });
}

/** What an answer must have of a printed body: each member with its value. */
function printedOf(body: string): JsonObject {
  const printed = parseJson(body.replace('http://localhost:8080', new URL(sse.url).origin));
  return isObject(printed) ? printed : {};
}

it('has the blocks that this file knows', () => {
  expect(CURLS.map(({ title, request: { method, target } }) => `${title}: ${method} ${target}`)).toEqual([
    'Complete Annotation Example: POST /tools',
    'Updating Existing Tool Annotations: PUT /tools/{tool_id}',
    'Step 1: Register the Gateway: POST /gateways',
    'Step 2: Add Annotations to Discovered Tools: GET http://localhost:4444/tools',
    'Step 2: Add Annotations to Discovered Tools: PUT /tools/{discovered_tool_id}',
    'Viewing Annotations: GET http://localhost:4444/tools/{tool_id}',
  ]);
  expect(JSONS.map(({ title }) => title)).toEqual([
    'Setting Annotations via Admin UI',
    'Read-Only Tool',
    'Destructive Tool',
    'Idempotent Tool',
    'Mixed Safety Tool',
    'High-Risk Administrative Tool',
    'Information Gathering Tool',
    'Combine Annotations Logically',
    'Viewing Annotations',
  ]);
});

it('each command is answered with what it sent, and a tool is shown as printed', async () => {
  const [create, update, register, list, annotate, view] = CURLS.map(({ request }) => request);
  const answers: Answer[] = [];
  const sendNext = async (request: CurlRequest | undefined, status: number): Promise<Json> => {
    const answer = await sendAsPrinted(request ?? expect.fail('there is no such block'));
    expect(answer.status, answer.text).toBe(status);
    if (request?.body !== undefined) expect(answer.json()).toMatchObject(printedOf(request.body));
    answers.push(answer);
    return answer.json();
  };
  ids.set('tool_id', textAt(await sendNext(create, 201), 'id'));

  // The example response omits the last members as "...".
  const printed = printedOf(
    JSONS.find(({ title }) => title === 'Viewing Annotations')?.text.replace(/,\s*\.\.\./, '') ?? '',
  );
  const shown = await sendNext(view, 200);
  expect(Object.keys(printed)).toEqual(['id', 'name', 'url', 'annotations', 'description']);
  expect(shown).toMatchObject({ ...printed, id: ids.get('tool_id') ?? '' });

  await sendNext(update, 200);
  await sendNext(register, 201);
  const tools = listAt(await sendNext(list, 200), 'tools');
  const discovered = tools.find((tool) => at(tool, 'serverName') === 'my-mcp-server');
  ids.set('discovered_tool_id', textAt(discovered, 'id'));
  await sendNext(annotate, 200);
  expect(answers).toHaveLength(CURLS.length);
});

const BODIES = JSONS.filter(({ title }) => title !== 'Viewing Annotations').flatMap(({ title, text }) =>
  text
    .replace(/(?<=^|\s)\/\/.*$/gm, '')
    .split(/(?<=^\})\n/m)
    .filter((part) => part.trim() !== '')
    .map((part, index) => ({ title, body: part.trim(), isAvoided: index === 1 })),
);

it.each(BODIES)('the body "$title" is accepted with its values ($body)', async ({ body, isAvoided }) => {
  const { admin } = world;
  const printed = printedOf(body);
  if (printed['name'] !== undefined) {
    const made = await admin.post('/tools', body);
    expect([made.status, made.json()]).toMatchObject([201, printed]);
    return;
  }
  const annotations = printed['annotations'] ?? printed; // The field of the Admin UI takes the annotations alone.
  const put = await admin.put('/tools/file-reader', { annotations });
  if (isAvoided) expect([put.status, at(put.json(), 'code')]).toEqual([422, 'HINTS_CONTRADICT']);
  else expect([put.status, put.json()]).toMatchObject([200, { annotations }]);
});
