// Modules that nothing used were more than half of a start's processor time.
import { expect, it } from 'vitest';
import { spawnAssay, startAssay } from '../support/assay.ts';
import { tempDir, writeConfig, writeText } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';

/**
 * Prints on exit what this thread has loaded: packages, also those that the build takes in, Node modules that only HTTP
 * clients and HTTP/2 need, and those that the build left as imports.
 */
const WITNESS = `
import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const name = /(?:node_modules\\/(?=.*\\/)|dist\\/(?=[^/]+[.]js$))((?:@[^/]+\\/)?[^/]+?)(?:[.]js)?(?:\\/|$)/.exec(found.url)?.[1];
    if (name !== undefined) loaded.add(name);
    if (specifier.startsWith('node:') && /\\/dist\\/[^/]+[.]js$/.test(context.parentURL)) loaded.add(specifier);
    return found;
  },
});
process.on('exit', () => {
  for (const name of ['http2', 'readline', 'child_process'])
    if (process.moduleLoadList.includes('NativeModule ' + name)) loaded.add(name);
  process.stderr.write('FLAGS ' + process.execArgv.join(' ') + '\\n');
  process.stderr.write('LOADED ' + [...loaded].join(' ') + '\\n');
});
`;
const NEEDLESS = ['undici', 'http2', 'kysely', 'zod', 'hono', 'jose', 'ajv', 'pg', 'mcp-client'];

const options = { NODE_OPTIONS: `--import=${writeText(WITNESS, 'witness.mjs')}` };

function loadedIn(stderr: string): readonly string[] {
  return [...stderr.matchAll(/^LOADED (.*)$/gm)].flatMap(([, names = '']) => names.split(' '));
}

function needlessIn(stderr: string, needed = 'program-all'): readonly string[] {
  const told = loadedIn(stderr);
  // Or it was not looked at.
  expect(told).toContain(needed);
  // An import of one reads all its exports (docs/adr/0056).
  expect(told.filter((name) => name.startsWith('node:'))).toEqual([]);
  return [...NEEDLESS, 'program-all'].filter((name) => name !== needed && told.includes(name));
}

it.each(['toolset list', 'settings', 'notes', 'token list', 'tools'])(
  '`assay %s` loads no HTTP client or server, and no package that it does not use',
  async (command) => {
    const place = ['--home', tempDir(), '--config', writeConfig({})];
    const args = ['token list', 'notes'].includes(command) ? place.slice(0, 2) : place;
    const { stderr } = await spawnAssay([...command.split(' '), ...args], { env: options });
    // Requests to the REST API, answered in the process, which checks them with the schemas.
    expect(needlessIn(stderr)).toEqual(command === 'settings' ? [] : ['zod']);
  },
);

it('a command loads no other commands', async () => {
  const { stderr } = await spawnAssay(['toolset', 'list', '--home', tempDir()], { env: options });
  const loaded = loadedIn(stderr);
  expect(loaded).toContain('toolset');
  expect(loaded.filter((name) => ['activity', 'approvals', 'openapi'].includes(name))).toEqual([]);
});

it('a command that asks a running gateway loads nothing of the gateway', async () => {
  const [home, config] = [tempDir(), writeConfig({})];
  const assay = await startAssay({ config, home });
  const { stderr } = await spawnAssay(['review', '--home', home, '--config', config], { env: options });
  await assay.stop();
  expect(needlessIn(stderr)).toEqual([]);
  const loaded = loadedIn(stderr);
  expect(loaded).toContain('client-all');
  expect(loaded.filter((name) => ['stdio-all', 'readline', 'child_process'].includes(name))).toEqual([]);
});

it('`assay stdio` does not load them either while it starts, nor the command line', async () => {
  const pipe = spawnStdio({ servers: {}, env: options });
  await pipe.initialize();
  pipe.closeStdin();
  await pipe.ended;
  expect(needlessIn(pipe.stderr(), 'stdio-all')).toEqual([]);
  // One file per stage; others only after the first answer.
  expect(loadedIn(pipe.stderr()).slice(0, 5)).toEqual([
    'main',
    'serve-stdio-all',
    'early-start-all',
    'stdio-all',
    'command-all',
  ]);
  expect(loadedIn(pipe.stderr())).not.toContain('client-all');
});

it('`assay serve` does not load them before more than MCP is requested', async () => {
  const assay = await startAssay({ servers: {}, env: options });
  await assay.stop();
  expect(needlessIn(assay.stderr())).toEqual([]);
});

it('`assay serve` restarts itself with a bounded young generation, and other commands do not', async () => {
  const flagsOf = async (command: string): Promise<string | undefined> => {
    const { stderr } = await spawnAssay([command, '--help'], { env: options });
    return /^FLAGS (.*)$/m.exec(stderr)?.[1];
  };
  expect([await flagsOf('serve'), await flagsOf('stdio')]).toEqual(['--max-semi-space-size=16', '']);
});
