import { describe, expect, it } from 'vitest';
import {
  isSameServer,
  listDifferences,
} from '../../../src/adapters/config/client-configs/compare-entries.ts';

const SOURCES = {
  env: { TOKEN: 'ghp_ab12cd34ef56ab12cd34ef56ab12cd34ef56', WORK: '/work' },
  home: '/home/ada',
  configDir: '/home/ada/.assay',
};
const GITHUB = { command: 'npx', args: ['-y', 'github'], env: { GITHUB_TOKEN: '${TOKEN}' } };

function differences(imported: Readonly<Record<string, unknown>>, own: unknown) {
  return listDifferences(imported, own, SOURCES);
}

describe('two entries', () => {
  it.each([
    [GITHUB, { ...GITHUB, env: { GITHUB_TOKEN: SOURCES.env.TOKEN }, timeoutMs: 5, prefix: false }],
    [GITHUB, { env: { GITHUB_TOKEN: '${TOKEN}', GONE: null }, args: ['-y', 'github'], command: 'npx' }],
    [{ command: 'c' }, { command: 'c', args: [], env: {} }],
    [
      { command: 'c', args: ['${A}'], env: { A: '1' } },
      { command: 'c', args: ['1'], env: { A: 1 } },
    ],
    [
      { command: 'c', args: ['${WORK}'] },
      { command: 'c', args: ['/work'] },
    ],
    [
      { url: 'https://a.example', headers: { Authorization: 'Bearer ${TOKEN}' } },
      { url: 'https://a.example', headers: { authorization: `Bearer ${SOURCES.env.TOKEN}` } },
    ],
  ])('are the same server if their expanded values are equal: %j', (one, other) => {
    expect(isSameServer(one, other, SOURCES)).toBe(true);
    expect(differences(one, other)).toEqual([]);
  });

  it.each([
    [{ env: { GITHUB_TOKEN: 'other' } }, [{ member: 'env.GITHUB_TOKEN' }]],
    [{ env: {} }, [{ member: 'env.GITHUB_TOKEN' }]],
    [{ command: 'uvx' }, [{ member: 'command', own: 'npx', imported: 'uvx' }]],
    [{ args: ['-y', 'gitlab'] }, [{ member: 'args[1]', own: 'github', imported: 'gitlab' }]],
    [{ args: ['-y'] }, [{ member: 'args[1]', own: 'github', imported: null }]],
    [{ cwd: '/x' }, [{ member: 'cwd', own: null, imported: '/x' }]],
  ])('differ in the members that are told: %j', (change, expected) => {
    expect(isSameServer({ ...GITHUB, ...change }, GITHUB, SOURCES)).toBe(false);
    expect(differences({ ...GITHUB, ...change }, GITHUB)).toEqual(expected);
  });

  it('show no secret of theirs', () => {
    const own = {
      command: 'c',
      args: ['--api-key', 'first-secret', 'x-second-secret'],
      env: { P: 'second-secret' },
    };
    const imported = {
      command: 'c',
      args: ['--api-key', 'third-secret', 'y-4th-Secret-9'],
      env: { P: '4th-Secret-9' },
    };
    expect(differences(imported, own)).toEqual([
      { member: 'args[1]' },
      { member: 'args[2]', own: 'x-[masked]', imported: 'y-[masked]' },
      { member: 'env.P' },
    ]);
    const address = (key: string) => ({ url: `https://a.example/${key}?k=${key}`, headers: { K: key } });
    expect(differences(address('one'), address('two'))).toEqual([{ member: 'url' }, { member: 'headers.k' }]);
  });
});
