import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { quoteShellArgument } from '../src/shell-argument.ts';

const TEXTS = [
  ...[
    'files',
    'a.b/c@d:e+f-g',
    '',
    ' ',
    'a b',
    "it's",
    "''",
    "'$(echo x)'",
    '$(echo x)',
    '`echo x`',
    '$HOME',
    '~',
    '*',
  ],
  ...['a;b', 'a|b', '"', String.raw`\'`, '!x', '{a,b}', 'ü', 'a\nb', '#a', '=ls', '%1', '-n'],
];

it.runIf(process.platform === 'linux').each(['sh', 'bash', 'zsh', 'fish'])(
  'an argument reaches a program as it is written, from %s',
  (shell) => {
    const line = `printf '%s\\0' ${TEXTS.map(quoteShellArgument).join(' ')}`;
    expect(execFileSync(shell, ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(TEXTS);
  },
);
