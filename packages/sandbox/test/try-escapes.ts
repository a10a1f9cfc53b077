// Tries all escapes from a sandbox, as the current user. argv[2]: a rule of the sandbox to omit, or none.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { confineWith } from '../src/confine.ts';
import { Child, type ChildOptions } from '@assay-mcp/kit/platform/child';
import type { SandboxRights } from '../src/rights.ts';
import {
  escapeProgram,
  FORK_BOMB,
  STRICT_CONNECTIONS,
  STRICT_ESCAPES,
  STRICT_WORK,
  SURVIVAL,
} from './escapes.ts';

const WEAKER: Readonly<Record<string, (options: ChildOptions) => ChildOptions>> = {
  filter: (options) => ({
    ...options,
    // BPF: return SECCOMP_RET_ALLOW.
    input3: Buffer.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]),
  }),
  network: (options) => ({ ...options, args: options.args.filter((arg) => arg !== '--unshare-net') }),
  files: ({ args, ...options }) => ({
    ...options,
    args: args.map((arg, n) => (arg === '--ro-bind' && args[n + 1] === root ? '--bind' : arg)),
  }),
  'outer namespace': (options) => withoutOuter(options),
  pins: ({ args, ...options }) => ({
    ...options,
    args: args.filter((_, n) => ![0, 1, 2].some((back) => isPin(args, n - back))),
  }),
  hidden: ({ args, ...options }) => {
    const at = args.indexOf(join(root, 'home'));
    return { ...options, args: args.toSpliced(at - 1, 4) };
  },
};

/** Whether a mount of a folder on itself begins there, which only makes it a mount point. */
function isPin(args: readonly string[], at: number): boolean {
  const [option, from, to] = args.slice(at, at + 3);
  return option === '--bind' && from === to && from !== strict;
}

/** Without the outer bubblewrap, whose namespace ends with Assay, and limits the processes of root. */
function withoutOuter({ args, command, ...options }: ChildOptions): ChildOptions {
  return { ...options, command, args: args.slice(args.lastIndexOf(command) + 1) };
}

const folder = mkdtempSync(join(tmpdir(), 'assay-test-'));
const [root, outside] = [join(folder, 'root'), join(folder, 'outside')];
for (const path of [root, outside, join(root, 'home')]) mkdirSync(path);
for (const path of [
  join(root, 'note'),
  join(outside, 'secret'),
  join(root, 'home', 'token'),
  join(root, 'mcp.json'),
])
  writeFileSync(path, 'x');
linkSync(join(outside, 'secret'), join(root, 'hard'));
mkdirSync(join(root, 'inner'));
execFileSync('mkfifo', [join(root, 'pipe'), join(root, 'inner', 'pipe')]);
if (process.getuid?.() === 0) execFileSync('mknod', ['-m', '666', join(root, 'device'), 'c', '1', '3']);
process.env['SECRET'] = 'secret-of-assay';
const endpoint = createServer().listen(0, '127.0.0.1');
await once(endpoint, 'listening');
const { port } = endpoint.address() as AddressInfo;
const sockets = [join(root, 'socket'), `\0assay-escape-${port}`].map((path) => createServer().listen(path));
await Promise.all(sockets.map((socket) => once(socket, 'listening')));

const strict = join(folder, 'strict');
for (const [path, name] of [
  ['conf/deep', 'mcp.json'],
  ['state/home', 'token'],
  ['programs/server', 'index.mjs'],
  ['docs', 'openapi.json'],
  ['shared/data', 'note'],
  ['', 'note'],
] as const) {
  mkdirSync(join(strict, path), { recursive: true });
  writeFileSync(join(strict, path, name), 'x');
}

async function start(code: string, rights: SandboxRights): Promise<Child> {
  const isStrict = rights === 'write_roots';
  const cwd = isStrict ? strict : root;
  const command = { command: '/usr/bin/python3', args: ['-c', code], env: {}, cwd, isCwdGiven: true };
  const own = isStrict
    ? [join(strict, 'state/home'), join(strict, 'conf/deep/mcp.json')]
    : [join(root, 'home'), join(root, 'mcp.json')];
  const foreign = ['programs/server', 'docs/openapi.json', 'absent'].map((path) => join(strict, path));
  const others = (): Promise<readonly string[]> => Promise.resolve(foreign);
  const otherRoots = (): Promise<readonly string[]> => Promise.resolve([join(strict, 'shared/data')]);
  const confined = await confineWith(own, { others, otherRoots })(command, {
    rights,
    namedReaches: new Set(),
  });
  if (!confined.ok) throw new Error(JSON.stringify(confined.error));
  return new Child((WEAKER[process.argv[2] ?? ''] ?? ((options) => options))(confined.value));
}

async function run(code: string, rights: SandboxRights = 'read'): Promise<string> {
  const child = await start(code, rights);
  let [output, errors] = ['', ''];
  child.onOutput((chunk) => (output += chunk.toString()));
  child.onErrorOutput((chunk) => (errors += chunk.toString()));
  await child.ended;
  await child.outputRead;
  if (output === '') throw new Error(errors);
  return output.trim();
}

/** Whether a server goes on after its sandbox was ended from outside, as at the end of Assay. */
async function survives(): Promise<string> {
  const child = await start(SURVIVAL, 'write_roots');
  const tried = await new Promise<string>((resolve) => child.onOutput((chunk) => resolve(chunk.toString())));
  child.signal('SIGKILL');
  await child.ended;
  const { status } = spawnSync('flock', ['--wait', '5', join(strict, 'lock'), 'true']);
  return status === 0 ? `${tried.trim()}, ended` : 'got out';
}

try {
  const targets = { root, secret: join(outside, 'secret'), pid: process.pid, port };
  const [, , without] = process.argv;
  const results: unknown = without === 'pins' ? {} : JSON.parse(await run(escapeProgram(targets)));
  const isOuter = [undefined, 'outer namespace'].includes(without);
  const bomb = isOuter ? await run(FORK_BOMB) : undefined;
  const survival = isOuter && process.arch === 'x64' ? await survives() : undefined;
  const withCode = Object.entries(STRICT_WORK).map(([name, code]) => [name, { code }] as const);
  const attempts = { ...STRICT_ESCAPES, ...STRICT_CONNECTIONS, ...Object.fromEntries(withCode) };
  const strictly: unknown = [undefined, 'pins'].includes(without)
    ? JSON.parse(await run(escapeProgram({ root: strict, port }, attempts), 'write_roots'))
    : {};
  console.log(JSON.stringify({ uid: process.getuid?.(), results, strict: strictly, bomb, survival }));
} finally {
  for (const server of [endpoint, ...sockets]) server.close();
  rmSync(folder, { recursive: true, force: true });
}
