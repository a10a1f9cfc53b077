import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getNamespacedName, assignPublicNames, getPublicPrefix, type Named } from '../../src/core/names.ts';

/** `server.name`; a leading `!` removes the prefix. */
function named(text: string): Named {
  const isPrefixed = !text.startsWith('!');
  const [server = '', ...name] = text.replace('!', '').split('.');
  return { server, name: name.join('.'), isPrefixed };
}

function check(
  tools: readonly string[],
  expected: readonly (string | undefined)[],
  reports: readonly string[] = [],
): void {
  const given = assignPublicNames(tools.map(named));
  expect([tools, given.names, given.reports.map(({ text }) => text)]).toEqual([tools, expected, reports]);
}

const LONG = 'x'.repeat(70);

describe('a public name', () => {
  it('is the server’s name, an underscore and the tool’s name', () => {
    check(['linear.create_issue', 'a-b.c-D9'], ['linear_create_issue', 'a-b_c-D9']);
    expect(getNamespacedName(named('linear.create_issue'))).toBe('linear.create_issue');
  });

  it('is the tool’s own name if the server has no prefix', () => {
    check(['!local.file-reader', '!local.'], ['file-reader', 't_']);
  });

  it('has an underscore for each character that some client does not accept', () => {
    check(['my server.git.push', 'a.b c?', 'a.'], ['my_server_git_push', 'a_b_c_', 'a_']);
    expect(getPublicPrefix('my server!')).toBe('my_server__');
  });

  it('is readable and distinct whatever script the tool’s name is in', () => {
    check(
      ['s.查询', 's.搜索', 's.поиск', 's.get_数据', 'ü.é 🎉', 's.Größe', 's.cafe\u0301', 's.\u{E000}'],
      ['s_ChaXun', 's_SouSuo', 's_poisk', 's_get_ShuJu', 'u_e__tada_', 's_Grosse', 's_cafe', 's__'],
    );
  });

  it('begins with a letter, which some clients require', () => {
    check(
      ['1mcp.t', '!s.123-tool', '!s._x', '!s.-a', '1.２'],
      ['t_1mcp_t', 't_123-tool', 't_x', 't_-a', 't_1_2'],
    );
    expect(getPublicPrefix('1mcp')).toBe('t_1mcp_');
  });

  it('that a tool had before still leads to it, and to no other tool', () => {
    const all = ['s.查询', 's.搜索', '1mcp.t', 'a.b', '!x.1mcp_t', 's.café'].map(named);
    const { names, former, contested } = assignPublicNames(all);
    expect(names).toEqual([
      's_ChaXun',
      's_SouSuo',
      't_1mcp_t_4f95ef8d',
      'a_b',
      't_1mcp_t_e8c388fb',
      's_cafe',
    ]);
    expect([...former.values()].toSorted()).toEqual([...names].filter((one) => one !== 'a_b').toSorted());
    expect(former.get('s_caf_')).toBe('s_cafe');
    expect(contested.get('s___')).toEqual(['s_ChaXun', 's_SouSuo']);
    // The former name of one tool is not the name of another.
    expect(assignPublicNames(['s.café', 's.caf_'].map(named)).names).not.toContain('s_caf_');
  });

  it('keeps 64 characters; a longer one ends in a hash of the namespaced name', () => {
    check([`s.${'x'.repeat(62)}`], [`s_${'x'.repeat(62)}`]);
    check(
      [`s.${LONG}`],
      [`s_${'x'.repeat(53)}_a55400ca`],
      [`s.${LONG} is called s_${'x'.repeat(53)}_a55400ca: its own name is longer than 64`],
    );
  });

  it('is given to neither of two colliding tools, and both report it', () => {
    const why = 'the name a_b_c is ambiguous';
    check(
      ['a.b_c', 'a_b.c', 'a.d'],
      ['a_b_c_5b8f934a', 'a_b_c_a3715283', 'a_d'],
      [`a.b_c is called a_b_c_5b8f934a: ${why}`, `a_b.c is called a_b_c_a3715283: ${why}`],
    );
    expect(assignPublicNames(['a.b_c', 'a_b.c', 'a.d'].map(named)).contested).toEqual(
      new Map([['a_b_c', ['a_b_c_5b8f934a', 'a_b_c_a3715283']]]),
    );
  });

  it('is given once to a tool that its server lists twice', () => {
    check(['a.b', 'a.b'], ['a_b', undefined], ['a.b is listed twice by its server; the first one counts']);
  });

  it('stays with its tool even if it looks like another tool’s hashed name', () => {
    const { names } = assignPublicNames(['a.b_c', 'a_b.c', '!x.a_b_c_5b8f934a'].map(named));
    expect(names.slice(1)).toEqual(['a_b_c_a3715283', 'a_b_c_5b8f934a']);
    expect(names[0]).toMatch(/^a_b_c_5b8f934a[0-9a-f]{8}$/);
  });
});

describe('public names', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', ' ', 'ü'), minLength: 1, maxLength: 4 });
  const name = fc.oneof(
    word,
    word.map((text) => text + LONG),
    fc.string({ unit: 'grapheme' }),
  );
  const tools = fc.array(fc.record({ server: word, name, isPrefixed: fc.boolean() }), { maxLength: 12 });
  const RUNS = { numRuns: 500 };
  const keyOf = (tool: Named): string => JSON.stringify([tool.server, tool.name]);

  it('match [a-zA-Z][a-zA-Z0-9_-]{0,63}, and are unique', () => {
    fc.assert(
      fc.property(tools, (all) => {
        const names = assignPublicNames(all).names.filter((one) => one !== undefined);
        expect(names.filter((one) => !/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(one))).toEqual([]);
        expect(new Set(names).size).toBe(names.length);
        expect(names).toHaveLength(new Set(all.map(keyOf)).size);
      }),
      RUNS,
    );
  });

  it('do not depend on the order of the tools', () => {
    const distinct = fc.uniqueArray(fc.record({ server: word, name, isPrefixed: fc.boolean() }), {
      selector: keyOf,
    });
    fc.assert(
      fc.property(distinct, (all) => {
        const reversed = assignPublicNames([...all].reverse()).names;
        expect([...reversed].reverse()).toEqual(assignPublicNames(all).names);
      }),
      RUNS,
    );
  });

  it('never move from one tool to another when a third is added or removed', () => {
    const distinct = fc.uniqueArray(fc.record({ server: word, name, isPrefixed: fc.boolean() }), {
      selector: keyOf,
      minLength: 1,
    });
    fc.assert(
      fc.property(distinct, ([third, ...others]) => {
        const alone = assignPublicNames(others).names;
        const together = assignPublicNames([...others, ...(third === undefined ? [] : [third])]).names;
        const moved = alone.filter(
          (one, index) => one !== together[index] && together.slice(0, -1).includes(one),
        );
        expect(moved).toEqual([]);
      }),
      RUNS,
    );
  });

  it('differ even if dots in server names make the namespaced names equal', () => {
    const { names } = assignPublicNames([
      { server: 'a.b', name: 'c', isPrefixed: true },
      { server: 'a', name: 'b.c', isPrefixed: true },
    ]);
    expect(new Set(names).size).toBe(2);
  });

  it('are escaped in reports for terminals', () => {
    const { reports } = assignPublicNames([
      named('s.a\u001b[2J'),
      named('s.a\u001b[2J'),
      named(`s.\n${LONG}`),
    ]);
    expect(reports.map(({ text }) => text)).toEqual([
      's.a\\u001b[2J is listed twice by its server; the first one counts',
      expect.stringMatching(/^s\.\\u000ax+ is called s__x+_[0-9a-f]{8}: its own name is longer than 64$/),
    ]);
  });
});
