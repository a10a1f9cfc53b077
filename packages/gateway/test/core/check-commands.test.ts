import { expect, it } from 'vitest';
import { checkCommands, type CommandFacts } from '../../src/core/check-commands.ts';

const FOUND: CommandFacts = {
  server: 'a',
  command: 'npx',
  location: { kind: 'found', path: '/usr/bin/npx' },
  cwd: '/work',
  cwdIs: 'folder',
};

it.each<[string, Partial<CommandFacts>, readonly string[]]>([
  ['found', {}, ['ok "npx" is /usr/bin/npx.']],
  ['given as an existing path', { command: '/usr/bin/npx' }, ['ok "/usr/bin/npx" is there.']],
  [
    'absent',
    { location: { kind: 'absent' } },
    ['problem The command "npx" was not found in any folder of PATH, so the server cannot be started.'],
  ],
  [
    'absent, given as a path',
    { command: './run', location: { kind: 'absent' } },
    ['problem There is no file "./run", so the server cannot be started.'],
  ],
  [
    'not executable',
    { location: { kind: 'not_executable', path: '/usr/bin/npx' } },
    ['problem "npx" is /usr/bin/npx, which may not be executed, so the server cannot be started.'],
  ],
  [
    'found, but without its working folder',
    { cwdIs: 'absent' },
    ['problem Its working folder "/work" does not exist, so it cannot be started.'],
  ],
  [
    'absent, with a file as its working folder',
    { cwdIs: 'not_a_folder', location: { kind: 'absent' } },
    [
      'problem Its working folder "/work" is not a folder, so it cannot be started.',
      'problem The command "npx" was not found in any folder of PATH, so the server cannot be started.',
    ],
  ],
])('the check reports a command that is %s', (_, facts, expected) => {
  const found = checkCommands([{ ...FOUND, ...facts }]);
  expect(found.map(({ level, message }) => `${level} ${message}`)).toEqual(expected);
});

it.each([
  ['npx', /comes with Node/],
  ['npx.cmd', /comes with Node/],
  ['uvx', /comes with uv/],
  ['docker', /Install Docker/],
  ['my-own', /^Install it\. If it is installed/],
])('the remedy says how to install %s', (command, remedy) => {
  const [found] = checkCommands([{ ...FOUND, command, location: { kind: 'absent' } }]);
  expect(found?.level === 'problem' && found.remedy).toMatch(remedy);
});

it.each([
  ['npx -y foo', 'Write "command": "npx", "args": ["-y", "foo"].'],
  ['docker run -i --rm image', 'Write "command": "docker", "args": ["run", …].'],
  // The rest may be secret.
  ['npx --key=s3cret x', 'Write "command": "npx", "args": […].'],
  ['node server.js --token s3cret', 'Write "command": "node", "args": ["server.js", …].'],
])('the remedy splits a command line given as a command, %j', (command, remedy) => {
  expect(checkCommands([{ ...FOUND, command, location: { kind: 'absent' } }])).toMatchObject([{ remedy }]);
});

it('a path with spaces is not mistaken for a command line', () => {
  const facts = { ...FOUND, command: '/opt/My App/run', location: { kind: 'absent' } } as const;
  expect(checkCommands([facts])).toMatchObject([{ remedy: expect.stringMatching(/^Install it/) as unknown }]);
});
