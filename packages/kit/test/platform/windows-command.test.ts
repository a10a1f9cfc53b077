import { describe, expect, it } from 'vitest';
import { listWindowsCandidates, planWindowsStart } from '../../src/platform/windows-command.ts';

const NODE = 'C:\\Program Files\\nodejs';
const FILES = new Set(
  [
    `${NODE}\\node.exe`,
    `${NODE}\\npx`,
    `${NODE}\\npx.cmd`,
    'C:\\work\\npx.cmd',
    'C:\\work\\tools\\run.bat',
    'C:\\odd;folder\\uv.exe',
    'C:\\100%\\go.cmd',
    'C:\\tools\\python3.11.exe',
    'C:\\tools\\both.com',
    'C:\\tools\\both.exe',
    'C:\\tools\\script.sh',
  ].map((file) => file.toLowerCase()),
);
const SEARCH = {
  cwd: 'C:\\work',
  path: `;.;tools;${NODE};"C:\\odd;folder";C:\\100%;C:\\tools`,
  isFile: (path: string) => FILES.has(path.toLowerCase()),
  systemRoot: 'C:\\Windows',
};
const CMD = 'C:\\Windows\\System32\\cmd.exe';

const plan = (command: string, args: readonly string[] = [], more: object = {}) =>
  planWindowsStart(command, args, { ...SEARCH, ...more });

const fileOf = (command: string, more: object = {}): string => {
  const start = plan(command, [], more);
  if (typeof start === 'string') return start;
  return start.isVerbatim ? (/^""(.*)""$/.exec(start.args.at(-1) ?? '')?.[1] ?? '') : start.command;
};

describe('a command on Windows', () => {
  it.each([
    ['npx', `${NODE}\\npx.CMD`],
    ['NPX', `${NODE}\\NPX.CMD`],
    ['npx.cmd', `${NODE}\\npx.cmd`],
    ['node', `${NODE}\\node.EXE`],
    ['node.exe', `${NODE}\\node.exe`],
    ['uv', 'C:\\odd;folder\\uv.EXE'],
    ['python3.11', 'C:\\tools\\python3.11.EXE'],
    ['both', 'C:\\tools\\both.COM'],
    ['.\\npx', 'C:\\work\\npx.CMD'],
    ['tools/run', 'C:\\work\\tools\\run.BAT'],
    ['C:\\tools\\both.exe', 'C:\\tools\\both.exe'],
    ['script.sh', 'ENOENT'],
    ['run', 'ENOENT'],
    ['nothing', 'ENOENT'],
    ['', 'ENOENT'],
    ['npx\0.cmd', 'ENOENT'],
    ['..\\work', 'ENOENT'],
  ])('%j is %j', (command, file) => {
    expect(fileOf(command)).toBe(file);
  });

  it('is looked for with the endings of PATHEXT in their order, and with the default ones if it is not set', () => {
    expect(fileOf('both', { pathExt: '.EXE;.COM' })).toBe('C:\\tools\\both.EXE');
    expect(fileOf('npx', { pathExt: '.exe' })).toBe('ENOENT');
    expect(fileOf('npx', { pathExt: '' })).toBe(`${NODE}\\npx.CMD`);
    expect(fileOf('npx', { pathExt: 'cmd;\\..\\x;.cmd' })).toBe(`${NODE}\\npx.cmd`);
  });

  it('that is only a name is never looked for in the working folder or another relative one', () => {
    const candidates = listWindowsCandidates('npx', SEARCH);
    expect(candidates.filter((path) => path.startsWith('C:\\work'))).toEqual([]);
    expect(candidates.slice(0, 4)).toEqual(['COM', 'EXE', 'BAT', 'CMD'].map((one) => `${NODE}\\npx.${one}`));
  });

  it('that is a program gets its arguments as they are', () => {
    const args = ['a b', '"', '%PATH%', 'x\ny'];
    expect(plan('node', args)).toEqual({ command: `${NODE}\\node.EXE`, args, isVerbatim: false });
  });

  it('that is a batch file is run by the cmd.exe of the system, whatever ComSpec and PATH say', () => {
    expect(plan('npx', ['-y', 'a b'])).toEqual({
      command: CMD,
      args: ['/d', '/e:on', '/v:off', '/s', '/c', `""${NODE}\\npx.CMD" -y "a b""`],
      isVerbatim: true,
    });
    for (const systemRoot of [undefined, '', 'evil'])
      expect(plan('npx', [], { systemRoot })).toMatchObject({ command: CMD });
    expect(plan('npx', [], { systemRoot: 'D:\\Win' })).toMatchObject({
      command: 'D:\\Win\\System32\\cmd.exe',
    });
    expect(fileOf('go')).toBe('C:\\100%%cd:~,%\\go.CMD');
  });
});

describe('an argument of a batch file', () => {
  const quoted = (arg: string): string => {
    const start = plan('npx', [arg]);
    if (typeof start === 'string') return start;
    const line = start.args.at(-1) ?? '';
    return line.slice(`""${NODE}\\npx.CMD" `.length, -1);
  };

  it.each([
    ['-y', '-y'],
    ['@scope/server@1.2.3', '@scope/server@1.2.3'],
    ['C:\\notes', 'C:\\notes'],
    ['é日', '"é日"'],
    ['a*', '"a*"'],
    ['', '""'],
    ['a b', '"a b"'],
    ['C:\\my notes\\', '"C:\\my notes\\\\"'],
    ['C:\\notes\\', '"C:\\notes\\\\"'],
    ['a\\\\', '"a\\\\\\\\"'],
    ['say "hi"', '"say ""hi"""'],
    ['a\\"b', '"a\\\\""b"'],
    ['"', '""""'],
    ['%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
    ['100%', '"100%%cd:~,%"'],
    ['"&calc.exe', '"""&calc.exe"'],
    ['" & calc.exe & "', '""" & calc.exe & """'],
    ['a&b', '"a&b"'],
    ['a|b', '"a|b"'],
    ['a>b', '"a>b"'],
    ['a<b', '"a<b"'],
    ['a^b', '"a^b"'],
    ['!PATH!', '"!PATH!"'],
    ['(a)', '"(a)"'],
    ['a,b;c=d', '"a,b;c=d"'],
    ["it's", '"it\'s"'],
    ['a~b', '"a~b"'],
    ['a\tb', '"a\tb"'],
    ['a\u001ab', '"a\u001ab"'],
    ['a\u0085b', '"a\u0085b"'],
    ['{"a":1}', '"{""a"":1}"'],
  ])('%j is passed as %s', (arg, expected) => {
    expect(quoted(arg)).toBe(expected);
  });

  it('with a line break or NUL is refused, since no quoting would keep it; so is a line that is too long', () => {
    for (const arg of ['a\nb', 'a\r', '\0']) expect([arg, plan('npx', [arg])]).toEqual([arg, 'EINVAL']);
    expect(plan('npx', ['a'.repeat(8_000)])).toBe('E2BIG');
  });

  it('cannot end its quotes: every run of quotes in it has an even number, and no name stands between two "%"', () => {
    const alphabet = ['"', '%', '\\', '&', ' ', 'a'];
    const all = (length: number): readonly string[] =>
      length === 0 ? [''] : all(length - 1).flatMap((text) => alphabet.map((one) => text + one));
    for (const arg of all(4)) {
      const text = quoted(arg);
      if (!text.startsWith('"')) {
        expect(text).toMatch(/^[\\a]+$/);
        continue;
      }
      const inner = text.slice(1, -1);
      expect([arg, inner.replaceAll('""', '').includes('"')]).toEqual([arg, false]);
      expect([arg, inner.replaceAll('%%cd:~,%', '').includes('%')]).toEqual([arg, false]);
      // The program behind the batch file reads back what was given.
      expect([arg, readBack(inner)]).toEqual([arg, arg]);
    }
  });
});

/** What a C program reads from a quoted argument in which cmd.exe has replaced the variables. */
function readBack(inner: string): string {
  const replaced = inner.replaceAll('%%cd:~,%', '%');
  return replaced
    .replace(/(\\*)""/g, (_, slashes: string) => `${slashes.slice(slashes.length / 2)}\u0001`)
    .replace(/\\+$/, (slashes) => slashes.slice(slashes.length / 2))
    .replaceAll('\u0001', '"');
}
