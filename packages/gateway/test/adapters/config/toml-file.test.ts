import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toJsonValue } from '../../../src/adapters/config/client-configs/translate-entry.ts';
import {
  parseTomlTree,
  removeTomlTable,
  setTomlTable,
} from '../../../src/adapters/config/client-configs/toml-file.ts';
import { getTreeMembers, toPosition } from '../../../src/adapters/config/json-tree.ts';

const PATH = ['mcp_servers', 'assay'];
const ENTRY = { command: 'C:\\n "q"', args: ['stdio', '--attach'] };
const TABLE = '[mcp_servers.assay]\ncommand = "C:\\\\n \\"q\\""\nargs = ["stdio", "--attach"]\n';

function added(text: string): string {
  const done = setTomlTable(text, PATH, ENTRY);
  return done.ok ? done.value.text : done.error.reason;
}

describe('a table in a TOML text', () => {
  it.each([
    ['', TABLE],
    ['# mine\n', `# mine\n\n${TABLE}`],
    ['model = "x" # no line break at the end', `model = "x" # no line break at the end\n\n${TABLE}`],
    ['[mcp_servers.a]\ncommand = "a"\n\n# end\n', `[mcp_servers.a]\ncommand = "a"\n\n# end\n\n${TABLE}`],
    ['a = """\n[mcp_servers.assay]\n"""\n', `a = """\n[mcp_servers.assay]\n"""\n\n${TABLE}`],
  ])('is added at the end of %j, and removed again', (text, expected) => {
    expect(added(text)).toBe(expected);
    expect(removeTomlTable(expected, PATH)?.trimEnd()).toBe(text.trimEnd());
  });

  it('has nested tables on one line', () => {
    const entry = { command: 'c', env: { A: '1', 'b c': '' }, enabled: false, tool_timeout_sec: 2.5, x: {} };
    const done = setTomlTable('', ['mcp_servers', 'a.b'], entry);
    expect(done).toMatchObject({
      value: {
        text: '[mcp_servers."a.b"]\ncommand = "c"\nenv = { A = "1", "b c" = "" }\nenabled = false\ntool_timeout_sec = 2.5\nx = {}\n',
      },
    });
  });

  it('keeps Windows line breaks', () => {
    expect(added('a = 1\r\n')).toBe(`a = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`);
    expect(removeTomlTable(added('a = 1\r\n'), PATH)).toBe('a = 1\r\n');
  });

  it('replaces the previous one in place, with its own tables', () => {
    const text = (own: string): string => `# a\n[x]\ny = 1\n\n# ours\n${own}\n# z\n[z]\nb = [\n  ["c"],\n]\n`;
    const former = '[mcp_servers.assay] # old\ncommand = "old"\n[mcp_servers.assay.env]\nA = "1" # one\n';
    expect(added(text(former))).toBe(text(TABLE));
    expect(setTomlTable(text(former), PATH, ENTRY)).toMatchObject({
      value: { line: 6, isReplaced: true, lines: TABLE.trimEnd().split('\n') },
    });
    expect(removeTomlTable(text(former), PATH)).toBe(text(''));
  });

  it('is added and removed without changing another byte', () => {
    const parts = [
      'model = "x"\n',
      '# note\n',
      '\n',
      '  \n',
      'q."a b".c = [\n  ["[mcp_servers.assay]"], # }\n]\n',
      "t = '''\n[x]\n'''\n",
      '[mcp_servers.other]\ncommand = "o" # c\n',
      '[mcp_servers.other.env]\nA = "1"\n',
      '[[list]]\na = 1\n',
      '[ "od d" ]\n',
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(parts), fc.boolean(), (chosen, isWindows) => {
        const joined = chosen.join('');
        const text = isWindows ? joined.replaceAll('\n', '\r\n') : joined;
        const done = setTomlTable(text, PATH, ENTRY);
        const before = parseTomlTree(text);
        expect(done.ok).toBe(before.ok);
        if (!done.ok) return;
        expect(done.value.text.startsWith(text)).toBe(true);
        const rest = removeTomlTable(done.value.text, PATH) ?? '';
        expect(rest.trimEnd()).toBe(text.trimEnd());
        expect(text.startsWith(rest) || rest.startsWith(text)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('is refused, and the text unchanged, if another form of the same table conflicts', () => {
    expect(added('mcp_servers = { a = { command = "a" } }\n')).toContain('[mcp_servers.assay]');
    expect(removeTomlTable('mcp_servers = { assay = { command = "a" } }\n', PATH)).toBeUndefined();
    expect(added('a = \n')).toContain('this is not TOML');
  });

  it('replaces a key of the same name', () => {
    expect(added('[mcp_servers]\nassay = { command = "old" }\n')).toBe(`[mcp_servers]\n\n${TABLE}`);
    expect(added('mcp_servers.assay.command = "old"\n')).toBe(TABLE);
  });
});

it('TOML text is read as the equivalent JSON values, with the lines of tables and keys', () => {
  const text = `day = 2026-11-23
[mcp_servers."a b"]
command = 'c'
args = ["x", 1, true]
[mcp_servers."a b".env]
K = "v"
`;
  const tree = parseTomlTree(text);
  if (!tree.ok) throw new Error(tree.error.reason);
  expect(toJsonValue(tree.value)).toEqual({
    day: '2026-11-23T00:00:00.000Z',
    mcp_servers: { 'a b': { command: 'c', args: ['x', 1, true], env: { K: 'v' } } },
  });
  const servers = getTreeMembers(tree.value)[1]!.value;
  const [entry] = getTreeMembers(servers);
  expect(toPosition(text, entry!.keyNode.offset)).toEqual({ line: 2, column: 1 });
  expect(getTreeMembers(entry!.value).map(({ keyNode }) => toPosition(text, keyNode.offset).line)).toEqual([
    3, 4, 5,
  ]);
});
