import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endLater } from '../../../../../../test/support/endings.ts';
import { moduleOf, openedModule, pidOf } from '../../../../../../test/support/function-modules.ts';
import { tempDir } from '../../../../../../test/support/paths.ts';

const HEAD = [
  `import fs from 'node:fs'; import net from 'node:net'; import os, { setPriority } from 'node:os'; import { kill } from 'node:process'; import { setFlagsFromString } from 'node:v8';`,
  `import { createRequire, registerHooks } from 'node:module'; const require = createRequire(import.meta.url);`,
].join(' ');
const outside = tempDir();
const readable = tempDir();
const writable = tempDir();
writeFileSync(join(readable, 'given.txt'), 'given');
writeFileSync(join(outside, 'secret.env'), 'STOLEN=secret');
mkdirSync(join(outside, 'folder'));
const inside = (name: string): string => JSON.stringify(join(writable, name));
const out = (name: string): string => JSON.stringify(join(outside, name));
const program = createServer((socket) => socket.destroy()).listen(join(outside, 'program.sock'));
endLater(() => new Promise((resolve) => program.close(() => resolve())));

const unread = (path: string): string =>
  `It may not read "${path}": only its own folder, and what the settings of the module list under "reads"`;
const unwritten = (path: string): string =>
  `It may not write "${path}": only what the settings of the module list under "writes", and nothing in a read-only tool`;

const module = openedModule(
  {
    ...moduleOf(
      {
        pid: '() => process.pid',
        env: '() => process.env',
        own: `() => fs.readFileSync('beside.txt', 'utf8')`,
        given: `() => fs.readFileSync(${JSON.stringify(join(readable, 'given.txt'))}, 'utf8')`,
        kept: `() => fs.readFileSync(${JSON.stringify(join(writable, 'a.txt'))}, 'utf8')`,
        put: `() => fs.writeFileSync(${JSON.stringify(join(writable, 'a.txt'))}, 'put')`,
        read: `() => fs.readFileSync('/etc/passwd', 'utf8')`,
        write: `() => fs.writeFileSync('here.txt', 'x')`,
        spawn: `() => require('node:child_process').spawnSync('true')`,
        fork: `() => require('node:child_process').fork('tools.mjs')`,
        execve: `() => process.execve(process.execPath, ['node', '-e', '1'], {})`,
        worker: `() => new (require('node:worker_threads').Worker)('1', { eval: true })`,
        inspect: `() => require('node:inspector').open(0)`,
        kill: '() => process.kill(process.ppid)',
        named: '() => kill(process.ppid)',
        under: '() => process._kill(process.ppid, 9)',
        debug: '() => process._debugProcess(process.ppid)',
        abort: '() => process.abort()',
        priority: '() => setPriority(process.ppid, 19)',
        os: '() => os.setPriority(process.ppid, 19)',
        addon: `() => process.dlopen({ exports: {} }, '/x.node')`,
        binding: `() => process.binding('fs')`,
        sqlite: `async () => new (await import('node:sqlite')).DatabaseSync(${JSON.stringify(join(outside, 'a.db'))})`,
        required: `() => require('node:sqlite')`,
        builtin: `() => process.getBuiltinModule('node:sqlite')`,
        hooks: `() => require('node:module').registerHooks({ resolve: () => ({ url: 'node:sqlite', format: 'builtin', shortCircuit: true }) })`,
        hookNamed: '() => registerHooks({})',
        hookBuiltin: `() => process.getBuiltinModule('node:module').registerHooks({})`,
        hookLater: `() => require('node:module').register('./beside.txt', import.meta.url)`,
        loaded: `() => require('node:module')._load('node:sqlite')`,
        flags: `() => require('node:v8').setFlagsFromString('--logfile=' + ${JSON.stringify(join(outside, 'v8.log'))} + ' --log-all')`,
        flagsNamed: `() => setFlagsFromString('--prof')`,
        flagsBuiltin: `() => process.getBuiltinModule('v8').setFlagsFromString('--prof')`,
        nearLimit: `() => require('v8').setHeapSnapshotNearHeapLimit(1)`,
        coverage: `() => require('v8').takeCoverage()`,
        trace: `() => require('node:trace_events').createTracing({ categories: ['node'] }).enable()`,
        compileCache: `() => require('node:module').enableCompileCache(${JSON.stringify(join(outside, 'cache'))})`,
        fatal: `() => { process.report.reportOnFatalError = true; process.report.directory = ${JSON.stringify(outside)}; return process.report.writeReport(); }`,
        heap: `() => require('node:v8').writeHeapSnapshot(${JSON.stringify(join(outside, 'heap'))})`,
        loadEnv: `() => process.loadEnvFile(${out('secret.env')})`,
        wasi: `() => new (require('node:wasi').WASI)({ version: 'preview1', preopens: { '/out': ${JSON.stringify(outside)} } })`,
        blob: `async () => (await fs.openAsBlob(${out('secret.env')})).text()`,
        symlink: `() => fs.symlinkSync(${JSON.stringify(outside)}, ${inside('link')})`,
        symlinkRelative: `() => fs.promises.symlink('../../../etc/passwd', ${inside('relative')})`,
        hardLink: `() => fs.linkSync(${out('secret.env')}, ${inside('hard')})`,
        hardLinkOwn: `() => fs.linkSync('beside.txt', ${inside('own')})`,
        copy: `() => fs.cpSync(${JSON.stringify(outside)}, ${inside('copied')}, { recursive: true })`,
        copyOut: `() => fs.cpSync('beside.txt', ${out('copied')})`,
        move: `() => fs.renameSync('beside.txt', ${inside('moved')})`,
        fdMode: `() => fs.fchmodSync(fs.openSync('beside.txt'), 0o777)`,
        fdTimes: `async () => (await fs.promises.open('beside.txt')).utimes(1, 1)`,
        linkTimes: `() => fs.lutimesSync(${out('secret.env')}, 1, 1)`,
        chdir: `() => process.chdir(${JSON.stringify(outside)})`,
        workerEnv: `() => new (require('node:worker_threads').Worker)('1', { eval: true, execArgv: ['--diagnostic-dir', ${JSON.stringify(outside)}], env: { NODE_OPTIONS: '--report-on-fatalerror' } })`,
        cluster: `() => require('node:cluster').fork()`,
        session: `() => new (require('node:inspector').Session)().connect()`,
        engine: `() => require('node:crypto').setEngine('/x/engine.so')`,
        addonFile: `() => require('node:module')._extensions['.node']({ exports: {} }, '/x.node')`,
        linked: `() => process._linkedBinding('fs')`,
        objects: `() => require('node:v8').queryObjects(Uint8Array, { format: 'summary' })`,
        socket: `() => net.createServer().listen(${out('made.sock')})`,
        socketHttp: `() => require('node:http').createServer().listen({ path: ${out('http.sock')}, writableAll: true })`,
        socketHandle: `() => net._createServerHandle(${out('handle.sock')}, -1, -1)`,
        socketBound: `() => new (net.BoundSocket ?? function () { net.connect(${out('bound.sock')}); })({ path: ${out('bound.sock')} })`,
        socketOf: `() => net.connect(${out('program.sock')})`,
        socketAbstract: `() => net.connect('\\0program')`,
        ownSocket: `() => new Promise((resolve, reject) => {
          const server = net.createServer((peer) => peer.end('heard')).on('error', reject).listen(${inside('own.sock')}, () =>
            net.connect(${inside('own.sock')}).on('error', reject).on('data', (data) => { server.close(); resolve(String(data)); }));
        })`,
        report: `() => process.report.writeReport(${JSON.stringify(join(outside, 'report'))})`,
      },
      HEAD,
    ),
    'beside.txt': 'beside',
  },
  { env: { KEY: 'of the module' }, reads: [readable], writes: [writable] },
);

describe("a function module's process", () => {
  it("has an environment of what its spec lists, plus Assay's language and time zone", async () => {
    const { structuredContent } = await module.call('env');
    const names = Object.keys(structuredContent ?? {}).filter((name) => !/^(?:LANG|LC_\w+|TZ)$/.test(name));
    expect(names).toEqual(['KEY']);
  });

  it('can read its own folder and what its spec lists, and write what its spec lists', async () => {
    expect(await module.say('own')).toBe('beside');
    expect(await module.say('given')).toBe('given');
    expect(await module.say('put')).toBe('Done.');
    expect(readFileSync(join(writable, 'a.txt'), 'utf8')).toBe('put');
    expect(await module.say('ownSocket')).toBe('heard');
  });

  it('cannot write for a read-only tool, and reads the same', async () => {
    const reading = { isReadOnly: true };
    const { content } = await module.call('put', {}, reading);
    expect(content[0]?.['text']).toContain(
      `It may not write "${join(writable, 'a.txt')}": only what the settings of the module list under "writes", and nothing in a read-only tool`,
    );
    expect((await module.call('given', {}, reading)).content[0]?.['text']).toBe('given');
    await module.call('put');
    expect((await module.call('kept', {}, reading)).content[0]?.['text']).toBe('put');
  });

  it.each<[tool: string, error: string]>([
    [
      'read',
      'It may not read "/etc/passwd": only its own folder, and what the settings of the module list under "reads"',
    ],
    [
      'write',
      'It may not write "here.txt": only what the settings of the module list under "writes", and nothing in a read-only tool',
    ],
    ['spawn', 'It may not start processes'],
    ['fork', 'It may not start processes'],
    ['execve', 'A function may not use process.execve.'],
    ['worker', 'It may not start threads'],
    ['inspect', 'It may not use Inspector'],
    ['kill', 'A function may not use process.kill.'],
    ['named', 'A function may not use process.kill.'],
    ['under', 'A function may not use process._kill.'],
    ['debug', 'A function may not use process._debugProcess.'],
    ['abort', 'A function may not use process.abort.'],
    ['priority', 'A function may not use os.setPriority.'],
    ['os', 'A function may not use os.setPriority.'],
    ['addon', 'A function may not use process.dlopen.'],
    ['binding', 'A function may not use process.binding.'],
    ['sqlite', 'A function may not use node:sqlite, as it could write any file with it.'],
    ['required', 'A function may not use node:sqlite, as it could write any file with it.'],
    ['builtin', 'A function may not use node:sqlite, as it could write any file with it.'],
    ['hooks', 'A function may not use module.registerHooks.'],
    ['hookNamed', 'A function may not use module.registerHooks.'],
    ['hookBuiltin', 'A function may not use module.registerHooks.'],
    ['hookLater', 'A function may not use module.register.'],
    ['loaded', 'A function may not use node:sqlite, as it could write any file with it.'],
    [
      'heap',
      `It may not write "${join(outside, 'heap')}": only what the settings of the module list under "writes", and nothing in a read-only tool`,
    ],
    ['report', 'A function may not use process.report.writeReport.'],
    ['fatal', 'A function may not use process.report.writeReport.'],
    ['flags', 'A function may not use v8.setFlagsFromString.'],
    ['flagsNamed', 'A function may not use v8.setFlagsFromString.'],
    ['flagsBuiltin', 'A function may not use v8.setFlagsFromString.'],
    ['nearLimit', 'A function may not use v8.setHeapSnapshotNearHeapLimit.'],
    ['coverage', 'A function may not use v8.takeCoverage.'],
    ['trace', 'A function may not use trace_events.createTracing.'],
    ['compileCache', 'A function may not use module.enableCompileCache.'],
    ['loadEnv', unread(join(outside, 'secret.env'))],
    ['wasi', 'It may not use WASI'],
    ['blob', unread(join(outside, 'secret.env'))],
    ['symlink', 'It may not do this: fs.symlink API requires full fs.read and fs.write permissions.'],
    ['symlinkRelative', 'It may not do this: fs.symlink API requires full fs.read and fs.write permissions.'],
    ['hardLink', unread(join(outside, 'secret.env'))],
    ['hardLinkOwn', unwritten('beside.txt')],
    ['copy', unread(outside)],
    ['copyOut', unwritten(join(outside, 'copied'))],
    ['move', unwritten('beside.txt')],
    ['fdMode', 'It may not do this: fchmod API is disabled when Permission Model is enabled.'],
    ['fdTimes', 'It may not do this: futimes API is disabled when Permission Model is enabled.'],
    ['linkTimes', unwritten(join(outside, 'secret.env'))],
    ['chdir', unread(outside)],
    ['workerEnv', 'It may not start threads'],
    ['cluster', 'It may not start processes'],
    ['session', 'It may not use Inspector'],
    [
      'engine',
      'Programmatic selection of OpenSSL engines is unsupported while the experimental permission model is enabled',
    ],
    ['addonFile', 'A function may not use process.dlopen.'],
    ['linked', 'A function may not use process._linkedBinding.'],
    ['objects', 'A function may not use v8.queryObjects.'],
    ['socket', unwritten(join(outside, 'made.sock'))],
    ['socketHttp', unwritten(join(outside, 'http.sock'))],
    ['socketHandle', unwritten(join(outside, 'handle.sock'))],
    ['socketBound', unwritten(join(outside, 'bound.sock'))],
    ['socketOf', unwritten(join(outside, 'program.sock'))],
    ['socketAbstract', unwritten(`${module.folder}/\\u0000program`)],
  ])('is denied access outside (%s), and continues', async (tool, error) => {
    const pid = await pidOf(module);
    const [first, place] = (await module.say(tool)).split('\n');
    expect(first).toBe(`! ${error}`);
    expect(place).toMatch(/^ {4}at .*tools\.mjs:\d+:\d+\)$/);
    expect(await pidOf(module)).toBe(pid);
  });

  it('leaves nothing where it may not write', () => {
    expect(readdirSync(outside).sort()).toEqual(['folder', 'program.sock', 'secret.env']);
    expect(readdirSync(writable)).toEqual(['a.txt']);
    expect(existsSync(join(module.folder, 'here.txt'))).toBe(false);
  });
});

describe('the output of a module', () => {
  const printing = openedModule(
    moduleOf(
      {
        pid: '() => process.pid',
        print: `() => { console.log('one'); console.error('two'); process.stdout.write('three\\n'); return 'printed'; }`,
        garble: `() => { fs.writeSync(1, '{"jsonrpc":"2.0"'); try { fs.writeSync(3, 'x'); } catch {} return 'garbled'; }`,
        forge: `() => { fs.writeSync(1, '\\n{"kind":"done","id":1,"result":{}}\\n'); return 'not forged'; }`,
        flood: `() => { for (let i = 0; i < 100_000; i++) console.log('a line of some length, again and again'); return 'flooded'; }`,
        deluge: `() => { const line = 'y'.repeat(1e6); for (let i = 0; i < 30; i++) { process.stderr.write(line); } return 'deluged'; }`,
        listen: `() => { process.stdin.on('data', () => {}); process.stdin.destroy(); return 'heard nothing'; }`,
        stray: `() => { void Promise.reject(new Error('astray')); return 'returned'; }`,
      },
      `import fs from 'node:fs';`,
    ),
  );

  it('goes to the log and never into its messages to Assay', async () => {
    const pid = await pidOf(printing);
    const said: string[] = [];
    for (const tool of ['print', 'garble', 'forge', 'listen', 'print']) said.push(await printing.say(tool));
    expect(said).toEqual(['printed', 'garbled', 'not forged', 'heard nothing', 'printed']);
    for (const text of ['one', 'two', 'three', '{\\"jsonrpc\\":\\"2.0\\"'])
      expect(printing.logged).toContain(`info function output {"text":"${text}"}`);
    expect(await pidOf(printing)).toBe(pid);
  });

  it('is logged with its line for an uncaught error, which ends nothing', async () => {
    expect(await printing.say('stray')).toBe('returned');
    expect(await printing.say('print')).toBe('printed');
    expect(printing.logged.find((line) => line.includes('astray'))).toMatch(
      /^warn function threw after its call had ended \{"fault":"astray\\n {4}at Object\.run \(tools\.mjs:\d+:\d+\)"\}$/,
    );
  });

  it('is truncated if there is too much', async () => {
    const [before, startMs] = [printing.logged.length, performance.now()];
    expect(await printing.say('flood')).toBe('flooded');
    expect(await printing.say('deluge')).toBe('deluged');
    // A hundred a second, and as many at once.
    const seconds = (performance.now() - startMs) / 1_000;
    expect(printing.logged.length - before).toBeLessThan(110 * (seconds + 2));
  });
});
