// What commands and `assay serve` do without the packages assay-verify and assay-codebase.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { VERSION } from '@assay-mcp/kit/version';
import { beforeAll, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../../../../test/hour/terminal.ts';
import { adminClient } from '../../../../test/support/admin.ts';
import { startAssay } from '../../../../test/support/assay.ts';
import { fixture, GATEWAY, PROGRAM, ROOT, tempDir } from '../../../../test/support/paths.ts';
import { type PackageRegistry, servePackage } from '../../../../test/support/package-registry.ts';
import { keepToken } from '../../../../test/support/tokens.ts';

/** Prints what it is asked to verify. */
const FETCHED = `export const runVerification = async ({ target }) => {
  console.log('verifies', target.command.join(' '));
  return 0;
};`;
const LEFT_OUT = /^(?:verify-|codebase-|admin$|swagger-ui$|grammars$)/;

let registry: PackageRegistry;
/** The main module of an installed Assay, beside which there is no other package. */
let main: string;
beforeAll(async () => {
  registry = await servePackage('assay-verify', VERSION, { 'dist/program.js': FETCHED });
  const modules = join(tempDir(), 'node_modules');
  const dist = join(modules, 'assay-mcp', 'dist');
  main = join(dist, 'main.js');
  cpSync(dirname(PROGRAM), dist, { recursive: true, filter: (path) => !LEFT_OUT.test(basename(path)) });
  const manifest = readFileSync(join(GATEWAY, 'package.json'), 'utf8');
  writeFileSync(join(modules, 'assay-mcp', 'package.json'), manifest);
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
});

/** A build of this Assay; `integrity`: of the packages that were released with it. */
function release(integrity: string | undefined): void {
  const released = { version: VERSION, integrity };
  const all = integrity === undefined ? {} : { 'assay-verify': released, 'assay-codebase': released };
  writeFileSync(join(dirname(main), 'companions.json'), JSON.stringify(all));
}

const ARGS = ['verify', '--', 'node', 'server.js'];
const QUESTION = `assay-verify ${VERSION} is not installed. Fetch it from npm now? [y/N]`;
const INSTALL = `npm install --global assay-verify@${VERSION}`;

interface Place {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

function place(more: NodeJS.ProcessEnv = {}): Place {
  const home = tempDir();
  return { home, env: { ...registry.env, HOME: home, ASSAY_HOME: home, CI: '', ...more } };
}

function runAtTerminal({ home, env }: Place, args: readonly string[] = ARGS): Terminal {
  return openTerminal([process.execPath, main, ...args].join(' '), { cwd: home, env });
}

it('at a terminal it is fetched after a yes, at the version that was released, and then used', async () => {
  release(registry.integrity);
  const here = place();
  const first = runAtTerminal(here);
  await first.until(/Fetch it from npm now\? \[y\/N\]/);
  expect(first.output()).toContain(QUESTION);
  first.type('y\n');
  expect(await first.ended()).toBe(0);
  expect(first.output()).toContain('verifies node server.js');
  const second = runAtTerminal(here);
  expect(await second.ended()).toBe(0);
  expect(second.output()).not.toContain('npm');
  expect(second.output()).toContain('verifies node server.js');
});

it('nothing is fetched after a no, or Enter', async () => {
  release(registry.integrity);
  for (const answer of ['n\n', '\n']) {
    const here = place();
    const requests = registry.requests.length;
    const terminal = runAtTerminal(here);
    await terminal.until(/Fetch it from npm now\?/);
    terminal.type(answer);
    expect(await terminal.ended()).toBe(4);
    expect(terminal.output().replaceAll(/\s+/g, ' ')).toContain(INSTALL);
    expect(registry.requests).toHaveLength(requests);
    expect(existsSync(join(here.home, 'packages'))).toBe(false);
  }
});

it('code search is offered for a search, but not for a server, whose stdin belongs to its client', async () => {
  release(registry.integrity);
  const search = runAtTerminal(place(), ['codebase', 'search', 'words']);
  await search.until(/assay-codebase \S+ is not installed\. Fetch it from npm now\?/);
  search.type('n\n');
  expect(await search.ended()).toBe(4);
  const server = runAtTerminal(place(), ['codebase']);
  expect(await server.ended()).toBe(4);
  expect(server.output()).not.toContain('Fetch it');
  expect(server.output()).toContain('The package assay-codebase is not installed');
});

it('another package than the released one is refused and not installed', async () => {
  release(`sha512-${Buffer.alloc(64).toString('base64')}`);
  const here = place();
  const terminal = runAtTerminal(here);
  await terminal.until(/Fetch it from npm now\?/);
  terminal.type('y\n');
  expect(await terminal.ended()).toBe(4);
  expect(terminal.output().replaceAll(/\s+/g, ' ')).toContain('npm delivered another package');
  expect(existsSync(join(here.home, 'packages', 'node_modules'))).toBe(false);
});

it('it is only named where nobody can answer, and by a build that was not released', async () => {
  release(registry.integrity);
  const requests = registry.requests.length;
  const { home, env } = place();
  const piped = spawnSync(process.execPath, [main, ...ARGS], { cwd: home, env, encoding: 'utf8' });
  expect(piped).toMatchObject({
    status: 4,
    stdout: '',
    stderr: `assay: The package assay-verify is not installed; install it with \`${INSTALL}\`.\n`,
  });
  const named = async (terminal: Terminal): Promise<void> => {
    expect(await terminal.ended()).toBe(4);
    expect(terminal.output()).not.toContain('Fetch it');
    expect(terminal.output().replaceAll(/\s+/g, ' ')).toContain(INSTALL);
  };
  await named(runAtTerminal(place(), ['verify', '--json', '--', 'node', 'server.js']));
  await named(runAtTerminal(place({ CI: 'true' })));
  release(undefined);
  await named(runAtTerminal(place()));
  expect(registry.requests).toHaveLength(requests);
});

it('`serve` answers a verification with the command that installs it, and fetches nothing', async () => {
  release(registry.integrity);
  const requests = registry.requests.length;
  const { home } = place();
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const assay = await startAssay({ servers: { plain: fixture('plain') }, home, main });
  const answer = await adminClient(assay, token).post('/gateways/plain/verify');
  expect(answer.text).toContain('event: refused');
  expect(answer.text).toContain('"code":"PACKAGE_MISSING"');
  expect(answer.text).toContain(INSTALL);
  expect(registry.requests).toHaveLength(requests);
});
