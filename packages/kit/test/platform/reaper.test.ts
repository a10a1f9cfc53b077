import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, killLater, sleep, until } from '../../../../test/support/endings.ts';
import { ROOT, tempDir } from '../../../../test/support/paths.ts';
import { childrenOf } from '../../../../test/support/processes.ts';
import { openPipe, type Pipe } from '../../../../test/support/stdio.ts';

const SHELL = '/bin/sh';
const OBEDIENT = 'exec sleep 600';
const DEAF = "trap '' TERM; while :; do sleep 1; done";

/** Shells that may be the `sh` of a system, if installed here. */
const SHELLS = [SHELL, '/bin/dash', '/bin/bash', '/bin/busybox', '/bin/ksh', '/bin/zsh'].filter((path) =>
  existsSync(path),
);

/** A link to a shell that is named `sh`, since the behavior of several shells depends on that name. */
function calledSh(program: string): string {
  if (program === SHELL) return program;
  const path = join(tempDir(), 'sh');
  symlinkSync(program, path);
  return path;
}

interface Group {
  readonly id: number;
  /** The signal that ended its leader. */
  readonly endedBy: Promise<NodeJS.Signals | null>;
}

async function startGroup(script: string): Promise<Group> {
  const leader: ChildProcess = spawn('/bin/sh', ['-c', `echo; ${script}`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  killLater(leader.pid);
  const endedBy = new Promise<NodeJS.Signals | null>((resolve) => {
    leader.on('exit', (_code, signal) => resolve(signal));
  });
  await new Promise((resolve) => leader.stdout?.once('data', resolve));
  // It prints before it sets its trap.
  await sleep(100);
  return { id: leader.pid ?? 0, endedBy };
}

interface Guard {
  readonly pipe: Pipe;
  /** Resolves when the guard has executed the command. */
  tell(line: string): Promise<void>;
  /** For each reaper so far, its process id and the guard's number of open files. */
  reapers(count: number): Promise<readonly (readonly [pid: number, files: number])[]>;
}

function openGuard(shell = SHELL): Guard {
  const pipe = openPipe([join(ROOT, 'test', 'fixtures', 'guard.ts'), shell]);
  const isDone = (line: string): boolean => line === 'done';
  let told = 0;
  return {
    pipe,
    tell: async (line) => {
      pipe.write(`${line}\n`);
      const count = ++told;
      await until(`${line} is done`, () => (pipe.lines().filter(isDone).length >= count ? true : undefined));
    },
    reapers: (count) =>
      until(`${count} reapers were there`, () => {
        const reapers = pipe.lines().filter((line) => !isDone(line));
        if (reapers.length < count) return undefined;
        return reapers.map((line) => {
          const [pid = 0, files = 0] = line.split(' ').map(Number);
          killLater(pid);
          return [pid, files] as const;
        });
      }),
  };
}

async function expectGone(pid: number): Promise<void> {
  await until(`${pid} is gone`, () => (isAlive(pid) ? undefined : true));
}

describe.concurrent.each(SHELLS)('a reaper under %s', (program) => {
  it('ends only the remaining process groups when its owner is killed, and then exits', async () => {
    const guard = openGuard(calledSh(program));
    const [obedient, deaf, ended, spared] = await Promise.all(
      [OBEDIENT, DEAF, DEAF, OBEDIENT].map(startGroup),
    );
    for (const group of [spared, obedient, ended, deaf]) await guard.tell(`+${group!.id}`);
    const [[reaper] = [0]] = await guard.reapers(1);
    await guard.tell(`-${ended!.id}`);
    await guard.tell(`-${spared!.id}`);
    await guard.tell(`+${ended!.id}`);
    // A group that it does not know.
    await guard.tell('-1');
    process.kill(guard.pipe.pid, 'SIGKILL');
    expect(await Promise.all([obedient!.endedBy, deaf!.endedBy, ended!.endedBy])).toEqual([
      'SIGTERM',
      'SIGKILL',
      'SIGKILL',
    ]);
    await expectGone(reaper);
    expect(isAlive(spared!.id)).toBe(true);
  });

  it('survives the signals of a terminal and of a normal exit', async () => {
    const guard = openGuard(calledSh(program));
    const group = await startGroup(OBEDIENT);
    await guard.tell(`+${group.id}`);
    const [[reaper] = [0]] = await guard.reapers(1);
    // The first line of the reaper sets its traps.
    await sleep(200);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.kill(reaper, signal);
    await sleep(200);
    expect([isAlive(reaper), isAlive(group.id)]).toEqual([true, true]);
    process.kill(guard.pipe.pid, 'SIGKILL');
    expect(await group.endedBy).toBe('SIGTERM');
    await expectGone(reaper);
  });
});

describe.concurrent('a reaper', () => {
  it('is not started while there is no group', async () => {
    const guard = openGuard();
    await sleep(300);
    expect(childrenOf(guard.pipe.pid)).toEqual([]);
    guard.pipe.closeStdin();
    expect(await guard.pipe.ended).toBe(0);
  });

  it('does not keep its owner alive, and ends the group that it left', async () => {
    const guard = openGuard();
    const group = await startGroup(OBEDIENT);
    await guard.tell(`+${group.id}`);
    const [[reaper] = [0]] = await guard.reapers(1);
    guard.pipe.closeStdin();
    expect(await guard.pipe.ended).toBe(0);
    expect(await group.endedBy).toBe('SIGTERM');
    await expectGone(reaper);
  });

  it('is replaced after a kill by one that knows all groups, without leaking files or zombies', async () => {
    const guard = openGuard();
    const [first, second] = await Promise.all([startGroup(OBEDIENT), startGroup(OBEDIENT)]);
    await guard.tell(`+${first.id}`);
    for (const count of [1, 2]) process.kill((await guard.reapers(count))[count - 1]![0], 'SIGKILL');
    await guard.tell(`+${second.id}`);
    const replaced = await guard.reapers(3);
    expect(replaced.map(([, files]) => files)).toEqual(replaced.map(() => replaced[0]![1]));
    const reaper = replaced[2]![0];
    expect(childrenOf(guard.pipe.pid).map(({ pid, state }) => [pid, state.startsWith('Z')])).toEqual([
      [reaper, false],
    ]);
    process.kill(guard.pipe.pid, 'SIGKILL');
    expect(await Promise.all([first.endedBy, second.endedBy])).toEqual(['SIGTERM', 'SIGTERM']);
    await expectGone(reaper);
  });

  it('is restarted only for the next group if it is killed while there is none', async () => {
    const guard = openGuard();
    const group = await startGroup(OBEDIENT);
    await guard.tell(`+${group.id}`);
    const [[reaper] = [0]] = await guard.reapers(1);
    await guard.tell(`-${group.id}`);
    process.kill(reaper, 'SIGKILL');
    await sleep(1_500);
    expect(childrenOf(guard.pipe.pid)).toEqual([]);
    await guard.tell(`+${group.id}`);
    expect(await guard.reapers(2)).toHaveLength(2);
  });

  it('is omitted if its shell does not exist', async () => {
    const guard = openGuard('/no/such/sh');
    const group = await startGroup(OBEDIENT);
    await guard.tell(`+${group.id}`);
    await guard.tell('+999999');
    await sleep(300);
    await guard.tell(`-${group.id}`);
    guard.pipe.closeStdin();
    expect(await guard.pipe.ended).toBe(0);
    expect([await guard.reapers(0), guard.pipe.stderr()]).toEqual([[], '']);
  });
});
