import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { completeLastWord } from '../../src/edges/cli/complete-words.ts';
import { buildProgram } from '../../src/edges/cli/program.ts';
import type { Runtime } from '../../src/edges/cli/runtime.ts';
import { ROOT } from '../../../../test/support/paths.ts';

// Building the command line needs nothing else of the runtime.
const runtime: Pick<Runtime, 'version' | 'clients'> = { version: '0', clients: [] };
const program = await buildProgram(runtime as Runtime, () => undefined);

/** The full names (`assay toolset add`) of all commands that can be run. A mere group has no options of its own. */
function commandLines(command: Command, path: string): readonly string[] {
  const inner = command.createHelp().visibleCommands(command);
  if (inner.length === 0) return [path];
  const below = inner
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => commandLines(one, `${path} ${one.name()}`));
  return command !== program && command.options.length > 0 ? [path, ...below] : below;
}

describe('docs/CLI.md', () => {
  it('lists every command and no others', () => {
    const page = readFileSync(join(ROOT, 'docs', 'CLI.md'), 'utf8');
    const tables = page.split('\n').filter((line) => line.startsWith('| `assay '));
    const listed = tables.flatMap((line) =>
      [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
    expect([...new Set(listed)].toSorted()).toEqual([...commandLines(program, 'assay')].toSorted());
  });
});

it('messages name guides that exist', () => {
  const topics = readdirSync(join(ROOT, 'docs')).map((name) => name.replace(/\.md$/, '').toLowerCase());
  const sources = globSync('packages/gateway/src/**/*.ts', { cwd: ROOT });
  const named = sources.flatMap((name) =>
    [...readFileSync(join(ROOT, name), 'utf8').matchAll(/`assay docs ([a-z-]+)/g)].map(([, topic]) => topic),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((topic) => topic === undefined || !topics.includes(topic))).toEqual([]);
});

describe('completion', () => {
  const textsAt = (...words: readonly string[]): readonly string[] => {
    const { expected } = completeLastWord(program, words);
    return expected.kind === 'words' ? expected.words.map(({ text }) => text) : [`(${expected.kind})`];
  };

  it('suggests commands, subcommands, options and choices', () => {
    expect(textsAt('to')).toEqual(expect.arrayContaining(['serve', 'tools', 'toolset', 'completion']));
    expect(textsAt('')).not.toContain('complete');
    expect(textsAt('toolset', '')).toEqual(expect.arrayContaining(['create', 'equip']));
    expect(textsAt('toolset', 'create', '--')).toEqual(
      expect.arrayContaining(['--description', '--equip', '--home', '--json']),
    );
    expect(textsAt('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  it('looks up the names that an argument or option value accepts', () => {
    expect(textsAt('tools', '')).toEqual(['(servers)']);
    expect(textsAt('remove', '--json', 'f')).toEqual(['(servers)']);
    expect(textsAt('call', '')).toEqual(['(tools)']);
    expect(textsAt('call', 'files_read', '')).toEqual(['(files)']);
    expect(textsAt('toolset', 'equip', '')).toEqual(['(toolsets)']);
    expect(textsAt('toolset', 'add', 'mine', 'files.read', '')).toEqual(['(refs)']);
    expect(textsAt('notes', 'add', 'mine', '')).toEqual(['(refs)']);
    expect(textsAt('stdio', '--toolset', '')).toEqual(['(toolsets)']);
    expect(textsAt('serve', '--config', '')).toEqual(['(files)']);
    expect(textsAt('add', 'files', '--', '-')).toEqual(['(files)']);
  });

  it('reads home and config from the command line', () => {
    expect(completeLastWord(program, ['tools', '--home', '/h', '--config', 'c.json', '']).options).toEqual({
      home: '/h',
      config: 'c.json',
    });
  });
});
