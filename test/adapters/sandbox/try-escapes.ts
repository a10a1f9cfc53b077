// Tries all escapes from a sandbox, as the current user. argv[2]: a rule of the sandbox to omit, or none.
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { confineWith } from '../../../src/adapters/sandbox/confine.ts';
import { Child, type ChildOptions } from '../../../src/platform/child.ts';
import { escapeProgram, FORK_BOMB } from './escapes.ts';

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
  'process limit': (options) => WITHOUT_LIMIT(options),
  hidden: ({ args, ...options }) => {
    const at = args.indexOf(join(root, 'home'));
    return { ...options, args: args.toSpliced(at - 1, 4) };
  },
};

/** Without the outer bubblewrap that limits the processes of root. */
const WITHOUT_LIMIT = (options: ChildOptions): ChildOptions => ({
  ...options,
  args: options.args.slice(options.args.lastIndexOf(options.command) + 1),
});

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
process.env['SECRET'] = 'secret-of-assay';
const endpoint = createServer().listen(0, '127.0.0.1');
await once(endpoint, 'listening');
const { port } = endpoint.address() as AddressInfo;
const sockets = [join(root, 'socket'), `\0assay-escape-${port}`].map((path) => createServer().listen(path));
await Promise.all(sockets.map((socket) => once(socket, 'listening')));

async function run(code: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const command = { command: '/usr/bin/python3', args: ['-c', code], env, cwd: root, isCwdGiven: true };
  const confined = await confineWith([join(root, 'home'), join(root, 'mcp.json')])(command, {
    rights: 'read',
    namedReaches: new Set(),
  });
  if (!confined.ok) throw new Error(confined.error);
  const child = new Child((WEAKER[process.argv[2] ?? ''] ?? ((options) => options))(confined.value));
  let [output, errors] = ['', ''];
  child.onOutput((chunk) => (output += chunk.toString()));
  child.onErrorOutput((chunk) => (errors += chunk.toString()));
  await child.ended;
  await child.outputRead;
  if (output === '') throw new Error(errors);
  return output.trim();
}

try {
  const targets = { root, secret: join(outside, 'secret'), pid: process.pid, port };
  const results: unknown = JSON.parse(await run(escapeProgram(targets)));
  const bomb = [undefined, 'process limit'].includes(process.argv[2]) ? await run(FORK_BOMB) : undefined;
  console.log(JSON.stringify({ uid: process.getuid?.(), results, bomb }));
} finally {
  for (const server of [endpoint, ...sockets]) server.close();
  rmSync(folder, { recursive: true, force: true });
}
