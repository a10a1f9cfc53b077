import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Child, type ProcessEnd } from '../../src/platform/child.ts';
import { isAlive, killLater } from '../../../../test/support/endings.ts';
import { ROOT, tempDir, writeText } from '../../../../test/support/paths.ts';

/** A child that runs a Node script. */
function scripted(script: string): Child {
  const child = new Child({ command: process.execPath, args: ['-e', script], cwd: tempDir(), env: {} });
  killLater(child.pid);
  return child;
}

/** The end of a child that cannot be started, after all its methods were called. */
async function causeOf(options: Partial<ConstructorParameters<typeof Child>[0]>): Promise<ProcessEnd> {
  const child = new Child({ command: process.execPath, args: [], cwd: '/', env: {}, ...options });
  child.onOutput(() => undefined);
  child.onErrorOutput(() => undefined);
  child.write([Buffer.from('x'), Buffer.from('\n')]);
  child.signal('SIGTERM');
  expect(child.pid).toBeUndefined();
  const cause = await child.ended;
  await child.end();
  child.write([Buffer.from('x')]);
  return cause;
}

describe('a child that cannot be started', () => {
  it('ends with a code for the reason, without an exception', async () => {
    const file = writeText('x');
    expect(await causeOf({ command: 'no-such-command' })).toEqual({
      code: 'COMMAND_NOT_FOUND',
      command: 'no-such-command',
    });
    expect(await causeOf({ cwd: file })).toEqual({ code: 'CWD_INVALID', command: process.execPath });
    expect(await causeOf({ command: join(file, 'x') })).toEqual({
      code: 'CWD_INVALID',
      command: join(file, 'x'),
    });
    expect(await causeOf({ args: ['x'.repeat(200_000)] })).toEqual({ code: 'COMMAND_LINE_TOO_LONG' });
    expect(await causeOf({ command: file })).toEqual({ code: 'COMMAND_NOT_EXECUTABLE', command: file });
    expect(await causeOf({ command: '' })).toEqual({
      code: 'PROCESS_NOT_STARTED',
      error: 'ERR_INVALID_ARG_VALUE',
    });
  });

  it('does not reveal arguments or variables, which may be secret', async () => {
    const invalid = { code: 'PROCESS_NOT_STARTED', error: 'ERR_INVALID_ARG_VALUE' };
    expect(await causeOf({ args: ['secret\0'] })).toEqual(invalid);
    expect(await causeOf({ env: { KEY: 'secret\0' } })).toEqual(invalid);
  });

  it('ends with a code if too many files are open', () => {
    const fixture = join(ROOT, 'test', 'fixtures', 'few-files.ts');
    const script = `ulimit -n 64; exec "${process.execPath}" "${fixture}"`;
    const done = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    expect([done.stdout, done.stderr]).toEqual(['OPEN_FILES_EXHAUSTED\n', '']);
  });
});

it('a child whose input is ended reads all that was written before, and can end by itself', async () => {
  const child = scripted("process.stdin.on('data', (data) => process.stdout.write(data))");
  const output: string[] = [];
  child.onOutput((data) => output.push(data.toString()));
  // More than a pipe holds.
  const text = 'x'.repeat(1_000_000);
  child.write([Buffer.from(text)]);
  child.endInput();
  expect(await child.ended).toEqual({ code: 'PROCESS_EXITED', exitCode: 0 });
  expect(output.join('').length).toBe(text.length);
});

describe('a child that keeps running', () => {
  const LIVE = 'setInterval(() => {}, 1000);';

  it('is stopped after it closed its stdout, with that cause', async () => {
    const child = scripted(`${LIVE} require('node:fs').closeSync(1)`);
    child.onOutput(() => undefined);
    expect(await child.ended).toEqual({ code: 'STDOUT_CLOSED' });
    expect(isAlive(child.pid ?? 0)).toBe(false);
  });

  it('is stopped by the first write after it closed its stdin', async () => {
    const child = scripted(`${LIVE} require('node:fs').closeSync(0); console.log('closed')`);
    child.onOutput(() => child.write([Buffer.from('x\n')]));
    expect(await child.ended).toEqual({ code: 'STDIN_CLOSED' });
    expect(isAlive(child.pid ?? 0)).toBe(false);
  });

  it('is stopped even if it ignores SIGTERM', async () => {
    const child = scripted(`process.on('SIGTERM', () => {}); ${LIVE} require('node:fs').closeSync(1)`);
    child.onOutput(() => undefined);
    expect(await child.ended).toEqual({ code: 'STDOUT_CLOSED' });
    expect(isAlive(child.pid ?? 0)).toBe(false);
  });
});

describe('a child that is stopped', () => {
  it('has the time that its entry gives it after its stdin closed, then gets SIGTERM', async () => {
    const script =
      "process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log(1)";
    const endings: unknown[] = [];
    const child = new Child({
      ...{ command: process.execPath, args: ['-e', script], cwd: tempDir(), env: {}, graceMs: 60_000 },
      cleanUp: async (end, isOrderly) => void endings.push(end, isOrderly),
    });
    killLater(child.pid);
    await new Promise<void>((resolve) => {
      child.onOutput(() => resolve());
    });
    child.graceMs = 1_000;
    await Promise.all([child.end(), child.end()]);
    expect(endings).toEqual([{ code: 'PROCESS_EXITED', exitCode: 5 }, false]);
  });

  it('and ends once its stdin closed has ended in order', async () => {
    const endings: boolean[] = [];
    const script = "process.stdin.resume().on('end', () => process.exit(0))";
    const child = new Child({
      ...{ command: process.execPath, args: ['-e', script], cwd: tempDir(), env: {}, graceMs: 60_000 },
      cleanUp: async (_, isOrderly) => void endings.push(isOrderly),
    });
    killLater(child.pid);
    await child.end();
    expect(endings).toEqual([true]);
  });
});

describe('a child that exits', () => {
  it('is reported with its exit code, although its streams close first', async () => {
    const child = scripted("require('node:fs').closeSync(1); process.exit(7)");
    child.onOutput(() => undefined);
    expect(await child.ended).toEqual({ code: 'PROCESS_EXITED', exitCode: 7 });
  });

  it('is reported with its exit code even during a write to it', async () => {
    const child = scripted('console.log(1); process.exit(3)');
    child.onOutput(() => child.write([Buffer.from('x'.repeat(1e6))]));
    expect(await child.ended).toEqual({ code: 'PROCESS_EXITED', exitCode: 3 });
  });

  it('may close its stdout some time before it exits when asked to end', async () => {
    const script =
      "process.stdin.resume().on('end', () => { require('node:fs').closeSync(1); setTimeout(() => process.exit(5), 700) }); console.log(1)";
    const child = scripted(script);
    await new Promise<void>((resolve) => {
      child.onOutput(() => resolve());
    });
    await child.end();
    expect(await child.ended).toEqual({ code: 'PROCESS_EXITED', exitCode: 5 });
  });
});
