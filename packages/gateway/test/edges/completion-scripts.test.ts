import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMPLETION_SCRIPTS, type Shell } from '../../src/edges/cli/completion-scripts.ts';
import { endLater, killLater, until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';

/** Names that the program would never print, to prove that the scripts do not rely on it. */
const HOSTILE = [
  'd$(touch PWN)',
  'e`touch PWN`',
  'f;touch PWN;',
  "g'$(touch PWN)'",
  'h"$(touch PWN)"',
  'i${x:=$(touch PWN)}',
  'j$((x[$(touch PWN)]))',
  'k(touch PWN)',
  'l|touch PWN',
  '-a$(touch PWN)',
  '%F{red}$(touch PWN)',
];

/** Answers like `assay complete`, and keeps the arguments of each run. */
const PROGRAM = `#!/bin/sh
printf '%s|' "$@" >> "$HERE/runs"
echo >> "$HERE/runs"
[ "$1" = complete ] && cat "$HERE/answer"
true
`;

const SHELLS: Readonly<Record<Shell, { readonly command: string; readonly setUp: string }>> = {
  bash: { command: 'bash --norc --noprofile -i', setUp: 'source ./script' },
  zsh: { command: 'zsh -f -i', setUp: 'autoload -Uz compinit; compinit -u -D; source ./script' },
  fish: { command: 'fish --no-config -i', setUp: 'source ./script' },
};

interface Terminal {
  /** Types a text; resolves when the fake program was run with exactly these arguments since. */
  type(text: string, ...args: readonly string[]): Promise<void>;
  /** Sets what the fake program answers. */
  answer(...lines: readonly string[]): void;
  has(name: string): boolean;
}

/** A shell at a terminal of its own, with the completion script loaded and a fake program `assay`. */
async function openTerminal(shell: Shell): Promise<Terminal> {
  const home = tempDir();
  writeFileSync(join(home, 'script'), COMPLETION_SCRIPTS[shell]);
  writeFileSync(join(home, 'runs'), '');
  writeFileSync(join(home, 'assay'), PROGRAM);
  chmodSync(join(home, 'assay'), 0o700);
  const { command, setUp } = SHELLS[shell];
  const path = `${home}${delimiter}${process.env['PATH'] ?? ''}`;
  const env = { PATH: path, HOME: home, HERE: home, TERM: 'dumb', LANG: 'C.UTF-8' };
  const child = spawn('script', ['-qfc', command, '/dev/null'], { cwd: home, env, stdio: 'pipe' });
  killLater(child.pid);
  endLater(() => Promise.resolve(void child.stdin.end()));
  let screen = '';
  child.stdout.on('data', (chunk: Buffer) => (screen += chunk.toString()));
  const runs = (): string => readFileSync(join(home, 'runs'), 'utf8');
  const type = async (text: string, ...args: readonly string[]): Promise<void> => {
    const before = runs().length;
    const wanted = `${args.map((arg) => `${arg}|`).join('')}\n`;
    child.stdin.write(text);
    await until(
      () =>
        `${shell} runs ${JSON.stringify(wanted)} after ${JSON.stringify(text)}; ran: ${runs().slice(before)}\nscreen: ${screen}`,
      () => (`\n${runs().slice(before)}`.includes(`\n${wanted}`) ? true : undefined),
      20_000,
    );
  };
  await type(`${setUp}; assay ready\r`, 'ready');
  return {
    type,
    answer: (...lines) => {
      writeFileSync(join(home, 'answer'), lines.map((line) => `${line}\n`).join(''));
    },
    has: (name) => existsSync(join(home, name)),
  };
}

const CLEAR = '\u0015';

describe.runIf(process.platform === 'linux').each(['bash', 'zsh', 'fish'] as const)(
  'the completion script of %s',
  (shell) => {
    let terminal: Terminal;
    beforeAll(async () => {
      terminal = await openTerminal(shell);
    });

    it('completes a word, and one that has a colon', async () => {
      terminal.answer('alpha.read\tReads', 'scope:be/t@a\t', ':4');
      await terminal.type('assay tools al\t', 'complete', '--', 'tools', 'al');
      await terminal.type('\r', 'tools', 'alpha.read');
      await terminal.type('assay tools scope:b\t', 'complete', '--', 'tools', 'scope:b');
      await terminal.type('\r', 'tools', 'scope:be/t@a');
      await terminal.type('assay tools scope:\t', 'complete', '--', 'tools', 'scope:');
      await terminal.type('\r', 'tools', 'scope:be/t@a');
      await terminal.type('assay \t', 'complete', '--', '');
      await terminal.type(`${CLEAR}assay done\r`, 'done');
    });

    it('completes files where the program says so', async () => {
      terminal.answer(':0');
      await terminal.type('assay lint answ\t', 'complete', '--', 'lint', 'answ');
      await terminal.type('\r', 'lint', 'answer');
    });

    it('executes nothing in a candidate or in a word of the command line', async () => {
      terminal.answer(...HOSTILE.map((name) => `${name}\t${name}`), 'zulu\t', ':4');
      for (const start of ['', ...HOSTILE.map((name) => name.charAt(0))])
        await terminal.type(`${CLEAR}assay tools ${start}\t\t`, 'complete', '--', 'tools', start);
      const typed = '\'$(touch PWN)\' "`touch PWN`"';
      await terminal.type(`${CLEAR}assay call ${typed} \t${CLEAR}assay done\r`, 'done');
      await terminal.type('assay tools zu\t', 'complete', '--', 'tools', 'zu');
      await terminal.type('\r', 'tools', 'zulu');
      expect(terminal.has('PWN')).toBe(false);
    });
  },
);
