import { describe, expect, it } from 'vitest';
import {
  listOtherAccounts,
  proposeChoice,
  proposeServers,
  readToolChoice,
} from '../../src/edges/cli/choose-tools.ts';

const server = (name: string, tokens: number) => ({ name, tools: 1, tokens });
const listed = (tokens: number) => ({
  ...{ client: { id: 'cursor', label: 'Cursor' }, tools: 1, tokens },
  ...{ servers: [], others: [] },
});

describe('the last question of setup', () => {
  it('proposes all tools within the budget, a search above it, and no search that reaches another account', () => {
    expect(proposeChoice([listed(10_000)], ['github'])).toEqual({ kind: 'all' });
    expect(proposeChoice([listed(1), listed(10_001)], [])).toEqual({ kind: 'search' });
    expect(proposeChoice([listed(10_001)], ['github'])).toEqual({ kind: 'choose', servers: 'proposed' });
  });

  it('proposes the cheapest servers that fit the budget together, at least one', () => {
    expect(proposeServers([server('a', 4_000), server('b', 6_000), server('c', 6_001)])).toEqual(['a', 'b']);
    expect(proposeServers([server('a', 20_000)])).toEqual(['a']);
  });

  it.each([
    [['github'], ['github-cursor', 'linear'], ['github-cursor']],
    [['github-cursor'], ['github', 'github-cursor-2'], ['github', 'github-cursor-2']],
    [['git'], ['git-hub', 'github'], []],
  ])('knows other accounts of %j among %j', (own, others, accounts) => {
    const servers = own.map((name) => server(name, 1));
    expect(listOtherAccounts({ servers, others }, ['cursor', 'vscode'])).toEqual(accounts);
  });

  it('reads --tools', () => {
    expect(readToolChoice('search')).toEqual({ ok: true, value: { kind: 'search' } });
    expect(readToolChoice('choose')).toEqual({ ok: true, value: { kind: 'choose', servers: undefined } });
    expect(readToolChoice('choose=a,b')).toEqual({
      ok: true,
      value: { kind: 'choose', servers: ['a', 'b'] },
    });
    expect(readToolChoice('choose=')).toMatchObject({ ok: false, error: { code: 'ARGUMENTS_INVALID' } });
    expect(readToolChoice('a')).toMatchObject({ ok: false, error: { code: 'ARGUMENTS_INVALID' } });
  });
});
