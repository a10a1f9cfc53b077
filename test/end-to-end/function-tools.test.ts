// Function modules from the clients' view: what their tools can do, and how they affect others.
import { beforeAll, describe, expect, it } from 'vitest';
import { ASKABLE } from '../support/askable.ts';
import { startAssay, type Assay } from '../support/assay.ts';
import { OFFICIAL } from '../support/clients.ts';
import { LOOPBACK } from '../support/documented-api.ts';
import { isAlive, kill, killLater, sleep, until } from '../support/endings.ts';
import { toolIn } from '../support/hints.ts';
import { at, listAt, textAt, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { META, modernStream } from '../support/modern.ts';
import { startFunctions, type Functions } from '../support/served-functions.ts';
import { spawnStdio } from '../support/stdio.ts';
import { equip, overHttp } from '../support/toolsets.ts';
import { serveWeb } from '../support/web-server.ts';

/** Typed, and served without a build. */
const TOOLS = `
import { defineTool, type ToolContext } from 'assay-mcp';
import { z } from 'zod';

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let aborted = 0;
let begun = 0;

export const greet = defineTool({
  name: 'greet',
  title: 'Say hello',
  description: 'Greets somebody.',
  input: z.object({ who: z.string().default('world') }),
  annotations: { readOnlyHint: true },
  run: ({ who }) => \`Hello \${who}!\`,
});
export const pid = defineTool({ name: 'pid', run: () => process.pid });
export const fail = defineTool({
  name: 'fail',
  run: () => {
    throw new Error('out of tea');
  },
});
export const choose = defineTool({
  name: 'choose',
  async run(_, { ask }: ToolContext) {
    const { action, content } = await ask({ message: 'Who?', schema: z.object({ who: z.string() }) });
    return \`\${action} \${JSON.stringify(content)}\`;
  },
});
export const steps = defineTool({
  name: 'steps',
  input: z.object({ who: z.string() }),
  async run({ who }, { progress, log }) {
    for (const step of [1, 2, 3]) {
      progress(step, 3, \`\${who} \${step}\`);
      log('info', { who, step });
      await wait(20);
    }
    return \`\${who} is done\`;
  },
});
export const heed = defineTool({
  name: 'heed',
  run: (_, { signal }) => {
    begun += 1;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted += 1;
        reject(new Error('was told to stop'));
      });
    });
  },
});
export const counts = defineTool({ name: 'counts', run: () => \`\${begun} \${aborted}\` });
export const rest = defineTool({
  name: 'rest',
  input: z.object({ ms: z.number() }),
  run: async ({ ms }) => {
    begun += 1;
    await wait(ms);
    return 'rested';
  },
});
`;

/** All that a module must not do to others. `allocate` does not also block the event loop. */
const WILD = `
import { defineTool } from 'assay-mcp';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
const tool = (name, run, more = {}) => defineTool({ name, run, ...more });
export default [
  tool('loop', () => { for (;;); }, { timeoutMs: 300 }),
  tool('never', () => new Promise(() => {}), { timeoutMs: 300 }),
  tool('allocate', async () => { const kept = []; for (;;) { kept.push(new Array(10_000).fill(0.5)); await setImmediate(); } }),
  tool('leave', () => process.exit(3)),
  tool('orphan', () => process.kill(process.ppid, 'SIGKILL')),
  tool('peek', () => readFileSync('/etc/hostname', 'utf8')),
  tool('spawn', () => new Promise((resolve, reject) => spawn('true').on('error', reject).on('exit', resolve))),
  tool('nothing', () => { throw null; }),
  tool('later', () => { setTimeout(() => { throw new Error('later'); }, 5); return new Promise(() => {}); }),
  tool('circle', () => { const one = {}; one.one = one; return one; }),
  tool('huge', () => 'x'.repeat(6_000_000)),
  tool('symbol', () => Symbol('odd')),
];
`;

/** A tool, and one that cannot be used. */
const DUAL = `
import { defineTool } from 'assay-mcp';
export default [defineTool({ name: 'two', run: () => 2 }), { name: 'three' }];
`;

let served: Functions & { readonly assay: Assay };
let assay: Assay;
let requests = 0;
beforeAll(async () => {
  const port = await serveWeb((_, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"pong":true}');
  });
  served = await startFunctions(startAssay, {
    files: { 'tools.ts': TOOLS, 'wild.mjs': WILD },
    functions: ['./tools.ts', { module: './wild.mjs', memoryMb: 64 }],
    more: { tools: { ping: { url: `http://127.0.0.1:${port}/ping`, method: 'GET' } } },
    env: LOOPBACK,
  });
  ({ assay } = served);
  // On a slow machine, a module may not load in time, and is loaded again.
  const { client } = await served.meet('modern');
  await until(
    'both modules are served',
    async () => {
      const names = new Set((await client.listTools()).tools.map(({ name }) => name));
      return names.has('greet') && names.has('leave') ? true : undefined;
    },
    60_000,
  );
});

describe('functions', () => {
  it.each(OFFICIAL)('are tools without a prefix for each official client: $label', async ({ connect }) => {
    const client = await connect({ url: assay.url });
    expect(await client.tools()).toEqual(expect.arrayContaining(['ping', 'greet', 'choose', 'leave']));
    expect(await client.call('greet', { who: 'Ada' })).toBe('Hello Ada!');
    expect(await client.call('greet')).toBe('Hello world!');
  });

  it('have all four hints, including their declared ones, and the title in both places', async () => {
    const { client } = await served.meet('modern');
    const { tools } = await client.listTools();
    expect(JSON.stringify(tools)).not.toMatch(/"_meta"|assay\//);
    const shown = (name: string): unknown => {
      const { title, annotations } = tools.find((tool) => tool.name === name) ?? {};
      return { title, annotations };
    };
    expect(shown('greet')).toEqual({
      title: 'Say hello',
      annotations: {
        title: 'Say hello',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
    });
    expect(shown('pid')).toEqual({
      title: 'Pid',
      annotations: {
        title: 'Pid',
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
    });
    const tool = await toolIn(served.admin, 'local', 'greet');
    expect(tool).toMatchObject({
      name: 'greet',
      namespacedName: 'local.greet',
      source: 'function',
      trust: { value: true, origin: 'default' },
    });
  });

  it('that throw report their source line', async () => {
    const { call } = await served.meet('legacy');
    const told = await call('fail');
    expect([told.isError, told.text]).toEqual([
      true,
      expect.stringMatching(/^out of tea\n +at .*tools\.ts:21:\d+\)?$/),
    ]);
  });

  it('have a toolset and a note like any other tool', async () => {
    const model = await overHttp({ servers: {}, config: { functions: [served.path('tools.ts')] } }, 'legacy');
    await equip(model, 'polite', ['local.greet', 'local.pid']);
    await model.call('enter-configuration-mode');
    const noted = await model.call('add-tool-annotation', {
      toolRef: { namespacedName: 'local.greet' },
      notes: [{ name: 'tone', note: 'Only by first name.' }],
    });
    expect([noted.isError, noted.text]).toEqual([false, expect.any(String)]);
    await model.call('exit-configuration-mode');
    await until('the tools of the toolset are listed', async () =>
      (await model.tools()).includes('greet') ? true : undefined,
    );
    expect((await model.tools()).filter((name) => name !== 'enter-configuration-mode')).toEqual([
      'greet',
      'pid',
    ]);
    expect(await model.describe('greet')).toContain('Only by first name.');
  });
});

describe('a function that asks its user', () => {
  it.each(ASKABLE)('is answered by the user of its caller only: $label', async ({ connect }) => {
    const [one, other] = await Promise.all([connect({ url: assay.url }), connect({ url: assay.url })]);
    other.answerWith(() => ({ action: 'decline' }));
    expect(await Promise.all([one.call('choose'), other.call('choose')])).toEqual([
      'accept {"who":"Who?"}',
      'decline undefined',
    ]);
    expect([one.asked.length, other.asked.length]).toEqual([1, 1]);
    expect(one.asked[0]).toMatchObject({
      method: 'elicitation/create',
      params: {
        message: 'Who?',
        requestedSchema: { type: 'object', properties: { who: { type: 'string' } } },
      },
    });
  });

  it.each(ASKABLE)('learns if its client cannot be asked: $label', async ({ connect }) => {
    const client = await connect({ url: assay.url }, { capabilities: {} });
    const told = await client.call('choose').catch((error: unknown) => String(error));
    expect(told).toMatch(/elicitation/);
    expect(await client.call('greet')).toBe('Hello world!');
  });
});

const progressOf = (messages: readonly Json[]): readonly unknown[] =>
  messages
    .filter((message) => at(message, 'method') === 'notifications/progress')
    .map((message) => at(message, 'params'));
const logsOf = (messages: readonly Json[]): readonly unknown[] =>
  messages
    .filter((message) => at(message, 'method') === 'notifications/message')
    .map((message) => at(message, 'params'));

describe('messages of a running function', () => {
  it('reach its caller only, even if all use one token: progress, and logs if requested', async () => {
    const [one, other, idle] = await Promise.all([
      openSession(assay.url),
      openSession(assay.url),
      openSession(assay.url),
    ]);
    await Promise.all([one, idle].map((session) => session.ask('logging/setLevel', { level: 'debug' })));
    await other.ask('logging/setLevel', { level: 'error' });
    const listening = await idle.listen();
    const params = (who: string): Record<string, Json> => ({
      name: 'steps',
      arguments: { who },
      _meta: { progressToken: 'same' },
    });
    const streams = await Promise.all([
      one.stream('tools/call', params('one'), 5),
      other.stream('tools/call', params('other'), 5),
      modernStream(assay.url, 'tools/call', {
        id: 5,
        params: params('third'),
        meta: { progressToken: 'same', [`${META}logLevel`]: 'info' },
      }),
    ]);
    await Promise.all(streams.map((stream) => stream.ended));
    for (const [index, who] of ['one', 'other', 'third'].entries()) {
      const messages = streams[index]?.messages() ?? [];
      expect(progressOf(messages)).toEqual(
        [1, 2, 3].map((step) => ({
          progressToken: 'same',
          progress: step,
          total: 3,
          message: `${who} ${step}`,
        })),
      );
      const logged = [1, 2, 3].map((step) => ({ level: 'info', logger: 'steps', data: { who, step } }));
      expect([who, logsOf(messages)]).toMatchObject([who, who === 'other' ? [] : logged]);
      expect(textAt(messages.at(-1), 'result', 'content', 0, 'text')).toBe(`${who} is done`);
    }
    expect(listening.messages()).toEqual([]);
  });
});

describe('a cancelled call', () => {
  it.each(['legacy', 'modern'] as const)(
    'of a %s client is reported to the function, and affects no other call',
    async (era) => {
      const [one, other] = await Promise.all([served.meet(era), served.meet(era)]);
      const counts = async (): Promise<readonly number[]> =>
        (await other.call('counts')).text.split(' ').map(Number);
      const [begun = 0, aborted = 0] = await counts();
      const resting = other.call('rest', { ms: 1_500 });
      const stopping = new AbortController();
      const asked = one.client.callTool({ name: 'heed', arguments: {} }, { signal: stopping.signal });
      const settled = asked.then(
        () => 'answered',
        () => 'given up',
      );
      await until('both have begun', async () => ((await counts())[0] === begun + 2 ? true : undefined));
      stopping.abort();
      expect(await settled).toBe('given up');
      await until('the function is told', async () =>
        (await counts())[1] === aborted + 1 ? true : undefined,
      );
      expect((await resting).text).toBe('rested');
    },
  );
});

describe('a faulty module', () => {
  it.each<[tool: string, told: RegExp]>([
    ['never', /300 ms/],
    ['allocate', /wild\.mjs.*used more than 64 MB/],
    ['leave', /wild\.mjs.*process\.exit\(3\)/],
    ['orphan', /may not use process\.kill/],
    ['peek', /may not read "\/etc\/hostname".*\n +at .*wild\.mjs:13:\d+/],
    ['spawn', /may not start processes/],
    ['nothing', /threw null/],
    ['later', /^later\n +at .*wild\.mjs:16:\d+/],
    ['circle', /cannot be written as JSON: .*circular/],
    ['huge', /at most 4 MiB/],
    ['symbol', /it is a symbol/],
    ['loop', /300 ms/],
  ])(
    'that %s gives its caller a clear error, and affects only its own tools',
    async (tool, told) => {
      const [one, other] = await Promise.all([served.meet('modern'), served.meet('legacy')]);
      const pid = (await other.call('pid')).text;
      const resting = other.call('rest', { ms: 600 });
      const before = requests;
      const asked = one
        .call(tool)
        .then(({ isError, text }) => (isError ? text : `no error: ${text.slice(0, 200)}`))
        .catch((error: unknown) => String(error));
      // Also while it fails.
      expect((await other.call('greet')).text).toBe('Hello world!');
      expect(JSON.parse((await other.call('ping')).text)).toEqual({ pong: true });
      const text = await asked;
      expect(text).not.toContain('no error');
      expect(text).toMatch(told);
      expect([(await resting).text, (await one.call('pid')).text, requests]).toEqual([
        'rested',
        pid,
        before + 1,
      ]);
      expect(isAlive(assay.pid)).toBe(true);
    },
    30_000,
  );

  it('serves again after its backoff', async () => {
    const { call } = await served.meet('modern');
    await until(
      'it serves',
      async () => ((await call('nothing')).text.includes('null') ? true : undefined),
      15_000,
    );
  });
});

describe('a module that never loads', () => {
  it('does not prevent other tools from being listed or called', async () => {
    const world = await startFunctions(startAssay, {
      files: { 'tools.ts': TOOLS, 'stuck.mjs': 'await new Promise((resolve) => setInterval(resolve, 1e9));' },
      functions: ['./stuck.mjs', './tools.ts'],
    });
    const model = await world.meet('modern');
    await until('the other module has loaded', async () =>
      (await model.tools()).includes('greet') ? true : undefined,
    );
    expect((await model.call('greet')).text).toBe('Hello world!');
    // Before it was given up.
    const faults = async (): Promise<Json> =>
      listAt((await world.admin.get('/functions')).json(), 'functions').map((one) => listAt(one, 'faults'));
    expect(await faults()).toEqual([['it has not loaded within 3 s so far'], []]);
    await until('its end is told', async () => {
      const [[fault] = []] = (await faults()) as readonly (readonly string[])[];
      return fault?.includes('within 10 s') === true ? true : undefined;
    });
    expect((await model.call('greet')).text).toBe('Hello world!');
    world.write('stuck.mjs', DUAL);
    await until('it is mended', async () => ((await model.tools()).includes('two') ? true : undefined));
    expect(await faults()).toEqual([['default[1]: has no function "run"'], []]);
  });
});

/** Of the process of the module, once it has loaded. */
async function pidFrom(session: {
  ask(method: string): Promise<Json>;
  call(name: string): Promise<string>;
}): Promise<string> {
  await until('the module has loaded', async () =>
    JSON.stringify(await session.ask('tools/list')).includes('"name":"pid"') ? true : undefined,
  );
  return session.call('pid');
}

describe.each(['assay serve', 'assay stdio'] as const)('%s that is killed', (endpoint) => {
  it('leaves no process of a module', async () => {
    const config = served.config;
    const [pid, text] =
      endpoint === 'assay serve'
        ? await (async () => {
            const own = await startAssay({ config });
            return [own.pid, await pidFrom(await openSession(own.url))] as const;
          })()
        : await (async () => {
            const pipe = spawnStdio({ config, args: ['--all'] });
            await pipe.initialize();
            return [pipe.pid, await pidFrom(pipe)] as const;
          })();
    const child = Number(text);
    killLater(child);
    expect(isAlive(child)).toBe(true);
    kill(pid, 'SIGKILL');
    await until('its process is gone', () => (isAlive(child) ? undefined : true));
    await sleep(50);
    expect(isAlive(child)).toBe(false);
  });
});
