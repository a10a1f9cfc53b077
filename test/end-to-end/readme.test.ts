import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newUser, type User } from '../support/client-configs.ts';
import { MAIN, ROOT, tempDir } from '../support/paths.ts';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The transcripts of the README: each command with its output. */
const STEPS = [...README.matchAll(/^```\n(\$ assay[^]*?)\n```$/gm)].flatMap(([, block = '']) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [line = '', ...printed] = step.split('\n');
      return { line, printed: printed.join('\n') };
    }),
);

/** The servers in the README, with their npm package names. */
const SERVERS = {
  github: ['@modelcontextprotocol/server-github'],
  playwright: ['@playwright/mcp'],
  slack: ['@modelcontextprotocol/server-slack'],
  thinking: ['@modelcontextprotocol/server-sequential-thinking'],
};

/**
 * Installs a fake npx, because the real one would download the servers. Its servers have as many tools as the
 * real ones, including the names used here.
 */
function npxIn(folder: string): string {
  const named = (count: number, ...names: readonly string[]): string => {
    const rest = Array.from({ length: count - names.length }, (_, at) => `tool_${at}`);
    const words = [process.execPath, join(ROOT, 'test', 'fixtures', 'named.ts'), ...names, ...rest];
    return `exec ${words.map((word) => `'${word}'`).join(' ')}`;
  };
  const lines = [
    '#!/bin/sh',
    'case "$2" in',
    `*/server-github) ${named(26, 'create_issue', 'get_pull_request', 'list_commits')} ;;`,
    `@playwright/mcp) ${named(25, 'browser_evaluate')} ;;`,
    `*/server-sequential-thinking) ${named(1, 'sequentialthinking')} ;;`,
    '*) echo "Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables" >&2; exit 1 ;;',
    'esac',
  ];
  mkdirSync(folder);
  writeFileSync(join(folder, 'npx'), `${lines.join('\n')}\n`);
  chmodSync(join(folder, 'npx'), 0o755);
  return folder;
}

function ada(): User {
  const bin = npxIn(join(tempDir(), 'bin'));
  const user = newUser({ PATH: `${bin}:${process.env['PATH'] ?? ''}` });
  const servers = Object.entries(SERVERS).map(
    ([name, args]) => [name, { command: 'npx', args: ['-y', ...args] }] as const,
  );
  const texts = servers.map(
    ([name, entry]) => `    ${JSON.stringify(name)}: {\n      ${JSON.stringify(entry).slice(1, -1)} }`,
  );
  user.write(`{\n  "mcpServers": {\n${texts.join(',\n')}\n  }\n}\n`, '.cursor', 'mcp.json');
  user.write(JSON.stringify({ mcpServers: { notes: { command: 'notes' } } }), '.claude.json');
  return user;
}

const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Removes the lines from the text; lines that it does not contain are in `missing`. */
function without(
  text: string,
  lines: readonly string[],
): { readonly rest: string; readonly missing: readonly string[] } {
  const missing: string[] = [];
  let rest = collapsed(text);
  for (const line of lines.map(collapsed).toSorted((a, b) => b.length - a.length))
    if (rest.includes(line)) rest = collapsed(rest.replace(line, () => ' '));
    else missing.push(line);
  return { rest, missing };
}

/** Printed only if the checkout is in a temporary folder, which a reader's installation is not. */
const TEMPORARY = 'warning: Assay runs from a temporary folder';

it('the README shows what its commands print', async () => {
  const user = ada();
  const own = [
    [user.home, '/home/ada'],
    [MAIN, '/usr/lib/node_modules/assay-mcp/dist/main.js'],
    [process.execPath, '/usr/bin/node'],
  ] as const;
  const executed: string[] = [];
  for (const { line, printed } of STEPS) {
    if (line === 'assay serve') continue; // It does not exit; onboarding and client lines have separate tests.
    const args = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word).slice(1);
    const { code, stdout, stderr } = await user.assay(...args);
    const output = own.reduce((text, [real, shown]) => text.replaceAll(real, shown), stdout + stderr);
    const lines = output.split('\n').filter((one) => one.trim() !== '' && !one.startsWith(TEMPORARY));
    const differing = without(printed, lines);
    expect([line, code, differing]).toEqual([line, 0, { rest: '', missing: [] }]);
    executed.push(line);
  }
  expect(executed.length).toBeGreaterThanOrEqual(6);
});

it('the other README commands that need no network succeed', async () => {
  const user = ada();
  const module = user.write(
    'export function greet(name: string): string {\n  return `Hello ${name}`;\n}\n',
    'greet.ts',
  );
  const shown = [
    ["assay rest add get-user 'https://api.example.com/users/{id}' --method GET", undefined],
    ['assay function add tools/greet.ts', ['function', 'add', module]],
    ['assay token create anna', undefined],
    ['assay export --file assay.json', ['export', '--file', user.at('assay.json')]],
    ['assay import assay.json', ['import', user.at('assay.json')]],
    ['assay connect cursor --undo', undefined],
  ] as const;
  user.write('{ "mcpServers": {} }', '.assay', 'mcp.json');
  await user.assay('connect', 'cursor');
  for (const [line, given] of shown) {
    expect(README).toContain(line);
    const args = given ?? line.replaceAll("'", '').split(' ').slice(1);
    const { code, stderr } = await user.assay(...args);
    expect([line, code, code === 0 ? '' : stderr]).toEqual([line, 0, '']);
  }
});
