import type { CatalogTool } from '../../src/api/status.ts';
import { expect, it } from 'vitest';
import { wrapToTerminal } from '@assay-mcp/kit/platform/terminal/print';
import { formatToolPage } from '../../src/edges/cli/tools.ts';

const terminal = { isTTY: true, columns: 20 };

it('a line wider than the terminal is wrapped at words, keeping its indentation', () => {
  expect(wrapToTerminal('short\n  one two three four five', terminal)).toBe(
    'short\n  one two three four\n  five',
  );
});

it('a path wider than the terminal is not broken, and piped output is not wrapped', () => {
  expect(wrapToTerminal('in /home/ada/.assay/mcp.json now', terminal)).toBe(
    'in\n/home/ada/.assay/mcp.json\nnow',
  );
  const long = 'one two three four five six seven';
  expect(wrapToTerminal(long, { ...terminal, isTTY: false })).toBe(long);
});

it('colors do not count as columns', () => {
  const colored = '\u001b[32mone two three four 20\u001b[39m';
  expect(wrapToTerminal(colored, { isTTY: true, columns: 21 })).toBe(colored);
});

const TOOLS = [
  { name: 'github_create_pull_request_review', server: 'github', description: 'Create a review.' },
  { name: 'files_read', server: 'files', description: `Reads ${'a file '.repeat(20)}` },
].map((tool) => ({
  ...tool,
  hints: { readOnlyHint: {}, destructiveHint: {}, idempotentHint: {} },
})) as unknown as readonly CatalogTool[];

it('tool names are not broken in a terminal, and each description takes one line', () => {
  const page = formatToolPage(TOOLS, 60);
  expect(page.split('\n').slice(0, 3)).toEqual([
    'github: 1 tool',
    '  github_create_pull_request_review  unannotated',
    '      Create a review.',
  ]);
  expect(page.split('\n').filter((line) => line.length > 60)).toEqual([]);
  expect(formatToolPage(TOOLS, 120)).toContain(
    '  github_create_pull_request_review  unannotated  Create a review.',
  );
});
