import { expect, it } from 'vitest';
import { formatClientLines } from '../../src/edges/cli/serve.ts';
import { at, parseJson } from '../../../../test/support/json.ts';

const lines = (needsToken: boolean): string =>
  formatClientLines({ endpoint: 'http://127.0.0.1:4444/mcp', needsToken, command: ['assay', 'stdio'] });

/** The lines to paste for a client. */
const pasted = (text: string, client: string): string =>
  new RegExp(`\n${client}\n([^]*?)\n(?:\n|$)`).exec(text)?.[1] ?? '';

it('setup lines contain the header if a token is needed, and say where to get one', () => {
  const text = lines(true);
  const headers = { Authorization: 'Bearer <token>' };
  expect(
    pasted(text, 'Claude Code')
      .replace(/\\\n\s*/, '')
      .trim(),
  ).toBe(
    'claude mcp add --transport http assay http://127.0.0.1:4444/mcp --header "Authorization: Bearer <token>"',
  );
  const [, code = ''] = /^ *code --add-mcp '([^']*)'$/.exec(pasted(text, 'VS Code')) ?? [];
  expect(at(parseJson(code), 'headers')).toEqual(headers);
  expect(at(parseJson(pasted(text, 'Cursor')), 'mcpServers', 'assay', 'headers')).toEqual(headers);
  expect(text).toContain('`assay token create NAME`');
});

it('setup lines contain no header if no token is needed', () => {
  expect(lines(false)).not.toMatch(/Authorization|<token>/);
});

it('setup lines fit 80 columns', () => {
  for (const needsToken of [true, false])
    expect(
      lines(needsToken)
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
});
