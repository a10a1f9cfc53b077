// Tries all escapes from Node's permission model, as the current user. argv[2]: options to omit, separated by commas,
// or none.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { confineWith } from '../src/confine.ts';
import { err } from '@assay-mcp/kit/result';
import { Child } from '@assay-mcp/kit/platform/child';

interface NodeEscape {
  /** The body of an async function that ends without an error if it got out. */
  readonly code: string;
  /** The code or message of the error that stops it. */
  readonly stoppedBy: RegExp;
}

const DENIED = /^ERR_ACCESS_DENIED$/;
const REMOVED = /^A read-only tool may not use /;
/** The latter by Node itself, from version 25 on. */
const UNREACHABLE = /^(?:ENETUNREACH|EAI_AGAIN|ERR_ACCESS_DENIED)$/;

/** In scope: `root`, `secret` (a file outside), `parent` (the process of Assay), `port` (of the loopback interface). */
export const NODE_ESCAPES: Readonly<Record<string, NodeEscape>> = {
  'writing a file': { code: "fs.writeFileSync(root + '/new', '')", stoppedBy: DENIED },
  'writing a file by a promise': {
    code: "await fs.promises.appendFile(root + '/note', '')",
    stoppedBy: DENIED,
  },
  'deleting a file': { code: "fs.unlinkSync(root + '/note')", stoppedBy: DENIED },
  'renaming a file': { code: "fs.renameSync(root + '/note', root + '/new')", stoppedBy: DENIED },
  'making a folder for temporary files': { code: "fs.mkdtempSync(os.tmpdir() + '/x')", stoppedBy: DENIED },
  'changing the mode of a file': { code: "fs.chmodSync(root + '/note', 0o777)", stoppedBy: DENIED },
  'changing the mode of an open file': {
    code: "fs.fchmodSync(fs.openSync(root + '/note'), 0o777)",
    stoppedBy: DENIED,
  },
  'changing the time of an open file': {
    code: "fs.futimesSync(fs.openSync(root + '/note'), 1, 1)",
    stoppedBy: DENIED,
  },
  'writing by a symbolic link': { code: "fs.writeFileSync(root + '/link', '')", stoppedBy: DENIED },
  'making a symbolic link': { code: "fs.symlinkSync(secret, root + '/new')", stoppedBy: DENIED },
  'making a hard link': { code: "fs.linkSync(root + '/note', root + '/new')", stoppedBy: DENIED },
  'opening a descriptor again for writing': {
    code: "fs.openSync('/proc/self/fd/' + fs.openSync(root + '/note'), 'r+')",
    stoppedBy: DENIED,
  },
  'writing by /proc/self/root': {
    code: "fs.openSync('/proc/self/root' + root + '/note', 'r+')",
    stoppedBy: DENIED,
  },
  'writing its own memory': { code: "fs.openSync('/proc/self/mem', 'r+')", stoppedBy: DENIED },
  'a file of another server': { code: 'fs.readFileSync(secret)', stoppedBy: DENIED },
  'a file of another server by a path with dots': {
    code: "fs.readFileSync(Buffer.from(root + '/../outside/secret'))",
    stoppedBy: DENIED,
  },
  'the processes of this machine': { code: "fs.readdirSync('/proc')", stoppedBy: DENIED },
  'a child process': { code: "childProcess.execFileSync(process.execPath, ['-v'])", stoppedBy: DENIED },
  'a process of a cluster': { code: "(await import('node:cluster')).default.fork()", stoppedBy: DENIED },
  'becoming another program': { code: "process.execve('/bin/true', ['true'])", stoppedBy: REMOVED },
  'a thread with permissions of its own': {
    code: "new (await import('node:worker_threads')).Worker('1', { eval: true, execArgv: [] })",
    stoppedBy: DENIED,
  },
  'an addon': { code: "process.dlopen({ exports: {} }, root + '/x.node')", stoppedBy: REMOVED },
  'an addon by require': {
    code: "module.createRequire(root + '/x.js').extensions['.node']({ exports: {} }, root + '/x.node')",
    stoppedBy: REMOVED,
  },
  'WebAssembly with files': {
    code: "new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': root } })",
    stoppedBy: DENIED,
  },
  'the inspector of its own process': { code: "(await import('node:inspector')).open(0)", stoppedBy: DENIED },
  'an internal binding': { code: "process.binding('spawn_sync')", stoppedBy: REMOVED },
  'an internal binding by another name': { code: "process._linkedBinding('x')", stoppedBy: REMOVED },
  'an engine of OpenSSL': {
    code: "(await import('node:crypto')).setEngine(root + '/x.so')",
    stoppedBy: /^ERR_CRYPTO_CUSTOM_ENGINE_NOT_SUPPORTED$/,
  },
  'a report': { code: "process.report.writeReport(root + '/new')", stoppedBy: REMOVED },
  'a heap snapshot': { code: "v8.writeHeapSnapshot(root + '/new')", stoppedBy: DENIED },
  'files of V8': { code: "v8.setFlagsFromString('--trace-turbo')", stoppedBy: REMOVED },
  'files of trace events': {
    code: "(await import('node:trace_events')).createTracing({ categories: ['node'] }).enable()",
    stoppedBy: REMOVED,
  },
  'a database': {
    code: "new (process.getBuiltinModule('node:sqlite').DatabaseSync)(root + '/new').exec('create table a (b)')",
    stoppedBy: /undefined/,
  },
  'the inspector of Assay': { code: "process.kill(parent, 'SIGUSR1')", stoppedBy: REMOVED },
  'the inspector of Assay by another name': { code: 'process._debugProcess(parent)', stoppedBy: REMOVED },
  'ending a process outside': { code: 'process._kill(parent, 0)', stoppedBy: REMOVED },
  'a socket with a path': { code: "await listened(net.createServer(), root + '/new')", stoppedBy: DENIED },
  'a socket with a path of somebody else': {
    code: "await connected({ path: root + '/socket' })",
    stoppedBy: DENIED,
  },
  'a socket with an abstract name': { code: "await connected({ path: '\\0assay' })", stoppedBy: DENIED },
  'a socket by its handle': {
    code: "new (process.stdin._handle.constructor)(0).bind(root + '/new')",
    stoppedBy: DENIED,
  },
  'the endpoint of Assay': { code: "await connected({ port, host: '127.0.0.1' })", stoppedBy: UNREACHABLE },
  'the endpoint of Assay by a lookup of its own': {
    code: "await connected({ port, host: 'x', lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) })",
    stoppedBy: UNREACHABLE,
  },
  'the endpoint of Assay by fetch': {
    code: "await fetch('http://127.0.0.1:' + port).catch(({ cause }) => { throw cause })",
    stoppedBy: UNREACHABLE,
  },
  'a port to listen on': { code: 'await listened(net.createServer(), 0)', stoppedBy: UNREACHABLE },
  'a datagram': {
    code: "await new Promise((done, fail) => { const s = dgram.createSocket('udp4'); s.on('error', fail); s.send('x', port, '127.0.0.1', (e) => e ? fail(e) : done()); })",
    stoppedBy: UNREACHABLE,
  },
  'a name': {
    code: "await dns.promises.lookup('localhost')",
    stoppedBy: /^(?:EAI_AGAIN|ERR_ACCESS_DENIED)$/,
  },
  'a name by a resolver': { code: "await dns.promises.resolve('localhost')", stoppedBy: UNREACHABLE },
};

async function run(folder: string): Promise<string> {
  const [root, outside] = [join(folder, 'root'), join(folder, 'outside')];
  for (const path of [root, outside]) mkdirSync(path);
  for (const path of [join(root, 'note'), join(outside, 'secret')]) writeFileSync(path, 'x');
  symlinkSync(join(outside, 'secret'), join(root, 'link'));
  const endpoint = createServer((socket) =>
    socket.on('error', () => undefined).end('HTTP/1.1 204 No Content\r\n\r\n'),
  ).listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  const { port } = endpoint.address() as AddressInfo;
  const given = { root, secret: join(outside, 'secret'), parent: process.pid, port };
  const attempts = Object.entries(NODE_ESCAPES).map(([name, { code }]) => [name, code]);
  const imports = ['fs', 'os', 'v8', 'net', 'dns', 'dgram', 'module', 'child_process'].map(
    (name) => `import ${name.replace('_p', 'P')} from 'node:${name}';`,
  );
  writeFileSync(
    join(root, 'server.mjs'),
    `${imports.join('')}
    const { root, secret, parent, port } = ${JSON.stringify(given)};
    const connected = (to) => new Promise((done, fail) => net.connect(to, done).on('error', fail));
    const listened = (server, at) => new Promise((done, fail) => server.on('error', fail).listen(at, done));
    const results = {};
    for (const [name, code] of ${JSON.stringify(attempts)})
      try {
        await eval('(async () => {' + code + '})()');
        results[name] = 'got out';
      } catch (error) {
        results[name] = String(error?.code ?? error?.message ?? error);
      }
    console.log(JSON.stringify(results));
    process.exit();`,
  );
  const preload = fileURLToPath(new URL('../../gateway/dist/confined-server.js', import.meta.url));
  const command = { command: process.execPath, args: [join(root, 'server.mjs')], env: {}, cwd: root };
  const accepting = { ...command, isCwdGiven: true, sandboxAccepts: ['node_permission'] } as const;
  const confine = confineWith([], { probe: () => Promise.resolve(err('bubblewrap')), preload });
  const confined = await confine(accepting, { rights: 'read', namedReaches: new Set() });
  if (!confined.ok) throw new Error(JSON.stringify(confined.error));
  const without = process.argv[2]?.split(',') ?? [];
  const args = confined.value.args.filter((arg) => !without.some((option) => arg.startsWith(option)));
  const child = new Child({ ...confined.value, args });
  let [output, errors] = ['', ''];
  child.onOutput((chunk) => (output += chunk.toString()));
  child.onErrorOutput((chunk) => (errors += chunk.toString()));
  await child.ended;
  await child.outputRead;
  endpoint.close();
  if (output === '') throw new Error(errors);
  const left = readdirSync(root).toSorted();
  return JSON.stringify({ uid: process.getuid?.(), results: JSON.parse(output) as unknown, left });
}

if (process.argv[1] === import.meta.filename) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-'));
  try {
    console.log(await run(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
