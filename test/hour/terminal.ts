import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

export const COLUMNS = 80;
/** How long a program may take to print the expected text, or to exit. */
const PATIENCE_MS = 180_000;
/** Erases the line, so that a progress line is replaced. */
const ERASE = '\r\u001B[2K';

/** A program in its own pseudo-terminal. */
export interface Terminal {
  /** Everything printed so far, as the terminal gets it. */
  readonly output: () => string;
  readonly type: (text: string) => void;
  /** Waits for text that matches, after the previous match, and returns it. */
  readonly until: (pattern: RegExp) => Promise<string>;
  /** Resolves with the exit code. */
  readonly ended: () => Promise<number>;
}

interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs a shell line in a pseudo-terminal of 80 columns, created by `script` of util-linux. */
export function openTerminal(line: string, { cwd, env }: Place): Terminal {
  const sized = `stty cols ${COLUMNS} rows 40 && exec ${line}`;
  const args = ['--quiet', '--flush', '--return', '--command', sized, '/dev/null'];
  const child = spawn('script', args, { cwd, env: { ...env, TERM: 'xterm-256color', SHELL: '/bin/sh' } });
  let output = '';
  let seen = 0;
  const changed = new EventTarget();
  const noteChange = (): boolean => changed.dispatchEvent(new Event('change'));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      noteChange();
    });
  const ending = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : -1));
  ending.then(noteChange, noteChange);
  let isOver = false;
  void ending.finally(() => (isOver = true));

  const until = async (pattern: RegExp): Promise<string> => {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const found = pattern.exec(output.slice(seen));
      if (found !== null) {
        seen += found.index + found[0].length;
        return found[0];
      }
      if (isOver || deadline.aborted)
        throw new Error(`\`${line}\` did not print ${String(pattern)}, but:\n${output.slice(seen)}`);
      await new Promise<void>((done) => {
        const go = (): void => done();
        changed.addEventListener('change', go, { once: true });
        deadline.addEventListener('abort', go, { once: true });
      });
    }
  };
  const ended = async (): Promise<number> => {
    const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    return ending.finally(() => clearTimeout(late));
  };
  return { output: () => output, type: (text) => void child.stdin.write(text), until, ended };
}

/** The lines that remain on the screen, without colors. */
export function screenOf(output: string): readonly string[] {
  const lines = output.split(/\r*\n/).map((line) => line.slice(line.lastIndexOf(ERASE) + 1));
  return lines.map((line) => stripVTControlCharacters(line).replaceAll('\r', '').trimEnd());
}

/** A log entry takes one line, however long it is. */
const LOG_LINE = /^\d\d:\d\d:\d\d (?:debug|info|warn|error) /;

/** Lines wider than the terminal, including those that a progress line replaced. A single long word is allowed. */
export function tooWide(output: string): readonly string[] {
  const lines = output.split(/[\r\n]+/).map((line) => stripVTControlCharacters(line));
  return lines.filter(
    (line) => stringWidth(line) > COLUMNS && line.trim().includes(' ') && !LOG_LINE.test(line),
  );
}
