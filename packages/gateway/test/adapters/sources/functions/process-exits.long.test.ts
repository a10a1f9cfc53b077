import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, kill, killLater, sleep, until } from '../../../../../../test/support/endings.ts';
import {
  moduleOf,
  openedModule,
  pidOf,
  RUNNER,
  type OpenedModule,
} from '../../../../../../test/support/function-modules.ts';
import { Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import { ROOT } from '../../../../../../test/support/paths.ts';

const TOOLS = {
  pid: '() => process.pid',
  add: '({ a, b }) => a + b',
  wait: '({ ms }) => new Promise((resolve) => setTimeout(() => resolve(`waited ${ms}`), ms))',
  loop: `() => { console.log('looping'); for (;;); }`,
  loopLater: `async () => { await new Promise((resolve) => setTimeout(resolve, 20)); console.log('looping'); for (;;); }`,
  never: '() => new Promise(() => {})',
  heed: `(_, { signal, progress }) => new Promise((_, reject) => { signal.addEventListener('abort', () => { globalThis.heard = true; reject(signal.reason); }); progress(1); })`,
  heard: '() => globalThis.heard === true',
  exit: '() => process.exit(3)',
  linger: `() => { process.on('exit', () => { for (;;); }); process.exit(4); }`,
  later: '() => { setTimeout(() => process.exit(), 10); return new Promise(() => {}); }',
  heap: '() => { const kept = []; for (;;) kept.push(new Array(10_000).fill(Math.random())); }',
  buffers:
    'async () => { const kept = []; for (;;) { kept.push(Buffer.alloc(20e6, 1)); await new Promise((resolve) => setTimeout(resolve, 2)); } }',
  stdout: '() => { fs.closeSync(1); return new Promise(() => {}); }',
  stay: `() => { process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); return process.pid; }`,
};
const open = (): OpenedModule => openedModule(moduleOf(TOOLS, `import fs from 'node:fs';`));

const gone = (pid: number): Promise<true> => until(`${pid} is gone`, () => (isAlive(pid) ? undefined : true));
const cancelledAfter = (ms: number): { readonly cancellation: Cancellation } => {
  const cancellation = new Cancellation();
  setTimeout(() => cancellation.cancel(), ms);
  return { cancellation };
};

describe('calls', () => {
  it('from several clients at once get their own results', async () => {
    const module = open();
    const pid = await pidOf(module);
    const sums = Array.from({ length: 50 }, (_, a) => module.say('add', { a, b: a }));
    const waits = [30, 10, 20].map((ms) => module.say('wait', { ms }));
    expect(await Promise.all(waits)).toEqual(['waited 30', 'waited 10', 'waited 20']);
    expect(await Promise.all(sums)).toEqual(Array.from({ length: 50 }, (_, a) => String(a + a)));
    expect(await pidOf(module)).toBe(pid);
  });

  it('end at once for the client when cancelled, and the module is notified', async () => {
    const module = open();
    const pid = await pidOf(module);
    const cancellation = new Cancellation();
    const heeding = { cancellation, progress: () => cancellation.cancel() };
    await expect(module.call('heed', {}, heeding)).rejects.toThrow(Cancelled);
    expect(await module.say('heard')).toBe('true');
    await expect(module.call('never', {}, cancelledAfter(20))).rejects.toThrow(Cancelled);
    await expect(module.call('add', { a: 1, b: 2 }, { cancellation })).rejects.toThrow(Cancelled);
    await sleep(1_500);
    expect(await pidOf(module)).toBe(pid);
  });
});

describe('a tool that blocks the event loop', () => {
  it.each(['loop', 'loopLater'])(
    'is stopped with its process, and concurrent calls are told which tool it was (%s)',
    async (tool) => {
      const module = open();
      const bystander = openedModule(moduleOf(TOOLS));
      const pid = await pidOf(module);
      await pidOf(bystander);
      const cancellation = new Cancellation();
      const call = module.call(tool, {}, { cancellation });
      await until('it loops', () => module.logged.find((line) => line.includes('looping')));
      const waiting = module.say('add', { a: 1, b: 2 });
      expect(await bystander.say('add', { a: 1, b: 2 })).toBe('3');
      cancellation.cancel();
      await expect(call).rejects.toThrow(Cancelled);
      expect(await waiting).toBe(
        `! The process of the functions in tools.mjs had its event loop blocked by its tool "${tool}", and was stopped. The next call restarts it.`,
      );
      await gone(pid);
      expect(await module.say('add', { a: 1, b: 2 })).toBe('3');
    },
  );
});

describe("a module's process", () => {
  it.each<[tool: string, cause: RegExp]>([
    ['exit', /called process\.exit\(3\) \(tools\.mjs:\d+:\d+\)/],
    ['later', /called process\.exit\(0\) \(tools\.mjs:\d+:\d+\)/],
    ['linger', /called process\.exit\(4\) \(tools\.mjs:\d+:\d+\)/],
    ['heap', /used more than 128 MB/],
    ['buffers', /used more than 128 MB/],
    ['stdout', /closed its stdout without ending/],
  ])(
    'that exits during a call (%s) reports why to all its calls, and restarts with the next one',
    async (tool, cause) => {
      const module = open();
      const pid = await pidOf(module);
      const others = module.say('never');
      const said = await module.say(tool);
      expect(said).toMatch(
        new RegExp(
          `^! The process of the functions in tools\\.mjs ${cause.source}\\. The next call restarts it\\.$`,
        ),
      );
      expect(await others).toBe(said);
      await gone(pid);
      expect(await module.say('add', { a: 1, b: 2 })).toBe('3');
    },
  );

  it('that is killed from outside reports the signal', async () => {
    const module = open();
    const pid = await pidOf(module);
    const call = module.say('never');
    kill(pid, 'SIGSEGV');
    expect(await call).toMatch(/ was ended by SIGSEGV\. The next call restarts it\.$/);
  });

  it('that uses too much memory between calls is stopped as well', async () => {
    const module = openedModule(
      moduleOf(TOOLS, 'const kept = []; setInterval(() => kept.push(Buffer.alloc(20e6, 1)), 50);'),
    );
    const pid = await pidOf(module);
    await gone(pid);
    expect(module.logged.at(-1)).toBe(
      'warn process of a function module ended {"cause":"used more than 128 MB","causeCode":"MEMORY_EXCEEDED"}',
    );
  });

  it('that keeps exiting backs off, and reports the first cause meanwhile', async () => {
    let nowMs = 0;
    const module = openedModule(moduleOf(TOOLS), { nowMs: () => nowMs });
    await module.say('exit');
    await module.say('heap');
    await module.say('exit');
    expect(await module.say('add', { a: 1, b: 2 })).toMatch(
      /^! The functions in tools\.mjs cannot be called: its process keeps ending and is started again in 1 s at the earliest; the first time it called process\.exit\(3\) \(tools\.mjs:\d+:\d+\)$/,
    );
    expect((await module.read()).tools).toHaveLength(Object.keys(TOOLS).length);
    nowMs += 1_000;
    expect(await module.say('add', { a: 1, b: 2 })).toBe('3');
  });

  it.each(['pid', 'never', 'loop', 'stay'])(
    'ends when its module is closed, whatever it runs (%s)',
    async (tool) => {
      const module = open();
      const pid = await pidOf(module);
      const call = module.say(tool);
      await sleep(100);
      await module.source.close();
      expect(isAlive(pid)).toBe(false);
      expect(await call).toMatch(/^\d+$|was stopped, because its module is no longer served/);
      expect(await module.say('add', { a: 1, b: 2 })).toBe(
        '! The functions in tools.mjs cannot be called: the module is no longer served',
      );
    },
  );

  it('that loads while its module is closed ends as well', async () => {
    const module = openedModule({ 'tools.mjs': 'console.log(process.pid); for (;;);' });
    const fault = module.fault();
    const line = await until('a pid', () => module.logged.find((one) => one.includes('function output')));
    const pid = Number(/\d+/.exec(line)?.[0]);
    await module.source.close();
    expect(isAlive(pid)).toBe(false);
    expect(await fault).toMatch(/no longer served/);
  });

  it.each(['never', 'loop'])('ends soon after Assay was killed (%s)', async (tool) => {
    const { path } = open();
    const assay = spawn(process.execPath, [
      join(ROOT, 'test', 'fixtures', 'serves-module.ts'),
      path,
      RUNNER,
      tool,
    ]);
    killLater(assay.pid);
    const [first] = (await once(assay.stdout, 'data')) as [Buffer];
    const pid = Number(first.toString());
    killLater(pid);
    expect(isAlive(pid)).toBe(true);
    await sleep(200);
    assay.kill('SIGKILL');
    await gone(pid);
  });
});
