import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const CTRL_C = '\u0003';
const CTRL_Z = '\u001A';

export interface KeyReader {
  /** Returns the terminal to its usual state. Node does the same when the process ends by itself, also by a fault. */
  readonly close: () => void;
}

/**
 * Reads single keys from the terminal on stdin, in lower case. Ctrl+C raises SIGINT and Ctrl+Z suspends, as usual. Keys
 * that arrive together are pasted text or the code of a special key, and are ignored.
 */
export function readKeys(onKey: (key: string) => void): KeyReader {
  const { stdin } = process;
  const onData = (chunk: Buffer): void => {
    const text = chunk.toString();
    if (text.includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
    else if (text === CTRL_Z) suspend();
    else if (/^[!-~]$/.test(text)) onKey(text.toLowerCase());
  };
  // The terminal was closed: SIGHUP follows.
  const onError = (): void => undefined;
  const release = (): void => {
    stdin.off('data', onData).pause();
    stdin.setRawMode(false);
  };
  const take = (): void => {
    // A background job that touches the terminal is stopped by the system.
    if (!isInForeground()) return;
    stdin.setRawMode(true);
    stdin.off('data', onData).on('data', onData).resume();
  };
  const suspend = (): void => {
    release();
    // The whole job, as the terminal would: a program that waits for this one is part of it.
    process.kill(0, 'SIGTSTP');
  };
  stdin.on('error', onError);
  process.on('SIGCONT', take);
  take();
  return {
    close: () => {
      process.off('SIGCONT', take);
      if (stdin.isRaw) release();
      stdin.off('error', onError);
    },
  };
}

/** Whether the terminal belongs to this process group, and not to the shell that started it with `&`. */
function isInForeground(): boolean {
  try {
    const [group, foreground] = process.platform === 'linux' ? groupsInProc() : groupsByPs();
    return group === foreground;
  } catch {
    return true;
  }
}

type Groups = readonly [own: string | undefined, foreground: string | undefined];

/** In `PID (name) STATE PPID PGRP SESSION TTY TPGID …`, the name may contain anything. */
function groupsInProc(): Groups {
  const status = readFileSync('/proc/self/stat', 'utf8');
  const [, , group, , , foreground] = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return [group, foreground];
}

function groupsByPs(): Groups {
  if (process.platform === 'win32') return ['', ''];
  const line = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
  const [group, foreground] = line.trim().split(/\s+/);
  return [group, foreground];
}
