import { describe, expect, it } from 'vitest';
import { isAlive, until } from '../support/endings.ts';
import { at } from '../support/json.ts';
import { fixture, openEventLog, tempDir, writeConfig } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';
import { runAssay } from '../support/commands.ts';

describe('a first start of assay stdio', () => {
  it('starts each server once, although it starts them before everything else', async () => {
    const diaries = [openEventLog(), openEventLog()];
    const [legacy, modern] = diaries;
    const pipe = spawnStdio({
      servers: {
        legacy: fixture('plain', [], { env: legacy?.env ?? {} }),
        modern: fixture('modern', [], { env: modern?.env ?? {} }),
      },
    });
    await pipe.initialize();
    await pipe.ask('tools/list');
    expect(await pipe.call('legacy_label')).toBe('plain');
    expect(diaries.map((eventLog) => eventLog.read('start').length)).toEqual([1, 1]);
    await pipe.stop();
    await until('both have ended', () =>
      diaries.every((eventLog) => eventLog.read('start').every(({ pid }) => !isAlive(pid)))
        ? true
        : undefined,
    );
  });

  it.each([
    ['with a setting that is wrong', [], { ASSAY_LOG_LEVEL: 'loud' }, 3],
    ['with an option that does not exist', ['--nope'], {}, 2],
    ['with options that exclude each other', ['--all', '--toolset', 'dev'], {}, 2],
    ['that only asks for help', ['--help'], {}, 0],
  ])('%s leaves no server behind', async (_what, args, env, code) => {
    const eventLog = openEventLog();
    // It ends neither with its stdin nor at SIGTERM.
    const config = writeConfig({ stubborn: fixture('plain', ['--stubborn'], { env: eventLog.env }) });
    const done = await runAssay(['stdio', '--all', '--config', config, '--home', tempDir(), ...args], {
      env,
    });
    expect(done.code).toBe(code);
    expect(done.stdout.includes('"jsonrpc"')).toBe(false);
    await until('no server is left', () =>
      eventLog.read('start').every(({ pid }) => !isAlive(pid)) ? true : undefined,
    );
  });

  it('reports a server that could not be started like any other', async () => {
    const pipe = spawnStdio({
      servers: { dead: { command: 'no-such-command-anywhere' }, plain: fixture('plain') },
    });
    await pipe.initialize();
    await pipe.ask('tools/list');
    const answer = await pipe.ask('tools/call', { name: 'dead_x' });
    expect(String(at(answer, 'error', 'message'))).toContain('command "no-such-command-anywhere" not found');
    expect(await pipe.call('plain_label')).toBe('plain');
  });
});
