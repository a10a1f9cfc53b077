import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { IS_LONG } from '../support/campaign.ts';
import { type Assay, type AssayOptions, startAssay } from '../support/assay.ts';
import { until } from '../support/endings.ts';
import { FILLINGS, filled } from '../support/hostile-shapes.ts';
import { send } from '../support/http.ts';
import { at, type Json, type JsonObject, listAt, textAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { META, MODERN, modernHeaders } from '../support/modern.ts';
import { fixture, ROOT, tempDir } from '../support/paths.ts';

/** The maximum CPU time for which a peer may block others. */
const BOUND_MS = 250;
const BYTES = Number(process.env['HOSTILE_BYTES'] ?? 2 * 1024 * 1024);
/** Nearly the largest message that is parsed at once. */
const HANDSHAKE_BYTES = 7 * BYTES;
/** The most expensive shapes to scan, to parse and to store. */
const SHAPES = [
  'short members',
  'planned members in arrays',
  'tiny elements',
  'a string of quotes',
  'a long string',
];
const PLACES = ['initialize', 'tools/list', 'tools/call', 'notice', 'question'];
/** All shapes, or in a short run a selection for each place in which every shape occurs somewhere. */
function shapesAt(place: number): readonly (readonly [index: number, shape: string])[] {
  return [...SHAPES.entries()].filter(([at]) => IS_LONG || (at + place) % 3 === 0);
}

/** A gateway that tells its longest turn of the event loop since it was last asked, in ms. */
async function startProbed(
  servers: NonNullable<AssayOptions['servers']>,
): Promise<{ readonly assay: Assay; readonly longestMs: () => Promise<number> }> {
  const file = join(tempDir(), 'longest');
  const assay = await startAssay({
    servers,
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(join(ROOT, 'test', 'support', 'turn-probe.ts')).href}`,
      TURN_PROBE: file,
    },
  });
  const longestMs = async (): Promise<number> => {
    rmSync(file, { force: true });
    process.kill(assay.pid, 'SIGUSR2');
    return until('the probe writes', () => {
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
      return text === '' ? undefined : Number(text);
    });
  };
  return { assay, longestMs };
}

it('hostile messages from servers and clients never block others for long', async () => {
  const servers = Object.fromEntries(
    PLACES.flatMap((place, index) =>
      shapesAt(index).map(([of, shape]) => [
        `s${index}${of}`,
        fixture('shaper', [
          `--at=${place}`,
          `--shape=${shape}`,
          `--bytes=${place === 'initialize' ? HANDSHAKE_BYTES : BYTES}`,
        ]),
      ]),
    ),
  );
  const { assay, longestMs } = await startProbed(servers);
  const check = async (what: readonly string[]): Promise<void> => {
    const ms = await longestMs();
    expect([...what, ms < BOUND_MS]).toEqual([...what, true]);
  };
  await longestMs(); // loading the program does not count
  const health = await assay.settled();
  const refused = listAt(health, 'servers').find((server) => at(server, 'name') === 's00');
  expect(textAt(refused ?? null, 'cause')).toBe(
    'its answer to "initialize" is too large: at most 16 MiB and 200,000 values are read',
  );
  await check(['server', 'all handshakes']);
  const session = await openSession(assay.url, { capabilities: { elicitation: {} } });
  for (const [index, place] of PLACES.entries())
    for (const [of, shape] of shapesAt(index)) {
      await session.ask('tools/call', { name: `s${index}${of}_shape`, arguments: {} });
      await check(['server', place, shape]);
    }
  for (const [of, shape] of SHAPES.entries()) {
    const [open, unit, close] = FILLINGS[shape] ?? ['', '', ''];
    const places = [
      ['arguments', '{"name":"s30_shape","arguments":{"x":', '}}'],
      [
        'capabilities',
        `{"name":"s30_shape","arguments":{},"_meta":{"${META}clientCapabilities":`,
        `,"${META}protocolVersion":"${MODERN}"}}`,
      ],
      ['inputResponses', '{"name":"s30_shape","requestState":"x","inputResponses":{"x":', '}}'],
    ] as const;
    for (const [place, before, after] of IS_LONG ? places : [places[of % places.length]!]) {
      const body = filled(BYTES, {
        before: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${before}${open}`,
        unit,
        after: `${close}${after}}`,
      }).toString();
      if (place === 'capabilities')
        await send(assay.url, { headers: modernHeaders('tools/call', { name: 's30_shape' }), body });
      else await session.post(body);
      await check(['client', place, shape]);
    }
  }
});

const MANY = 6_500;
/** They are stored one by one, which takes long on a busy machine. */
const WITHIN_MS = 180_000;

it.runIf(IS_LONG)(
  'a list of thousands of tools, and a change of all of them, never block others for long',
  async () => {
    const folder = tempDir();
    const listed = join(folder, 'tools.json');
    const writeTools = (annotations: JsonObject): void => {
      const tools = Array.from({ length: MANY }, (_, n) => ({
        name: `tool_${n}`,
        description: `Tool ${n}: ${JSON.stringify(annotations)}`,
        inputSchema: { type: 'object', properties: { a: { type: 'string', description: 'the first' } } },
        annotations,
      }));
      writeFileSync(`${listed}.new`, JSON.stringify(tools));
      renameSync(`${listed}.new`, listed);
    };
    const operations = Array.from({ length: MANY }, (_, n) => [
      `/p${n}`,
      { get: { operationId: `op${n}`, responses: { 200: { description: 'ok' } } } },
    ]);
    const document = {
      openapi: '3.1.0',
      info: { title: 'many', version: '1' },
      servers: [{ url: 'http://127.0.0.1:9' }],
      paths: Object.fromEntries(operations) as JsonObject,
    };
    writeFileSync(join(folder, 'api.json'), JSON.stringify(document));
    writeTools({ readOnlyHint: false, destructiveHint: true });
    const { assay, longestMs } = await startProbed({
      many: fixture('filed', [`--file=${listed}`]),
      api: { openapi: join(folder, 'api.json') },
    });
    await longestMs(); // loading the program does not count
    const countsIn = (health: Json): string =>
      String(listAt(health, 'servers').map((server) => at(server, 'tools')));
    await until(
      () => `all tools are listed; the log is:\n${assay.stderr()}`,
      async () => (countsIn(await assay.health()) === `${MANY},${MANY}` ? true : undefined),
      WITHIN_MS,
    );
    const session = await openSession(assay.url);
    await session.ask('tools/list');
    expect(await longestMs()).toBeLessThan(BOUND_MS);
    writeTools({ readOnlyHint: true, destructiveHint: false });
    await until(
      () => `the changes are stored; the log is:\n${assay.stderr()}`,
      () => (assay.stderr().includes('have changed') ? true : undefined),
      WITHIN_MS,
    );
    await session.ask('tools/list');
    expect(await longestMs()).toBeLessThan(BOUND_MS);
  },
);
