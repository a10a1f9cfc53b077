#!/usr/bin/env node
// Nothing is imported before this check: an older Node could not parse the rest of the program.
const NEEDED = [22, 19];
/** Commands that run for long under load. */
const RELAYS: ReadonlySet<string | undefined> = new Set(['serve', 'stdio']);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [neededMajor = 0, neededMinor = 0] = NEEDED;

if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  process.stderr.write(
    `Assay needs Node ${NEEDED.join('.')} or newer; this is ${process.version} (${process.execPath}).\n` +
      'Install a newer one, for example with `npm install --global node@24`, or from https://nodejs.org.\n',
  );
  process.exitCode = 1;
} else {
  boundYoungGeneration();
  await keepCompiled();
  const { startEarly, parseStdioOptions } = await import('./app/early-start.ts');
  const plain = parseStdioOptions(process.argv);
  const early = plain && (await startEarly(plain));
  if (RELAYS.has(process.argv[2])) await disablePretenuring();
  if (plain === undefined) {
    const { runProgram } = await import('./app/program.ts');
    process.exitCode = await runProgram(process.argv);
  } else {
    // A client waits for this start, so the command line is not loaded.
    const { serveStdio } = await import('./app/stdio.ts');
    process.exitCode = await serveStdio(plain, early);
  }
  abandonLookups();
}

/**
 * V8 samples a hundred objects to predict which kinds live long, and allocates those in the old generation. A
 * collection while many calls are in flight makes it misjudge call data: each call then stays until a full collection
 * and costs 50 % more. A relay gains nothing from the prediction, so it is turned off before any call (docs/adr/0041).
 */
async function disablePretenuring(): Promise<void> {
  (await import('node:v8')).setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Node waits at its end until the operating system has resolved the names that are still asked for, which can take half
 * a minute, even in `process.exit()`. A process that replaces itself does not wait.
 */
function abandonLookups(): void {
  if (process.platform === 'win32' || process.execve === undefined) return;
  if (!process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) return;
  // Not all systems write to pipes at once.
  if (process.stdout.writableLength + process.stderr.writableLength > 0) return;
  process.execve('/bin/sh', ['sh', '-c', `exit ${process.exitCode ?? 0}`], {});
}

/**
 * Keeps Node's compiled code for the next start of Assay and of servers that run on Node: it saves a fifth of their
 * time to a first response. The cache is private to the user: in a shared folder others could plant code.
 */
async function keepCompiled(): Promise<void> {
  const [nodeModule, os, path] = await Promise.all([
    import('node:module'),
    import('node:os'),
    import('node:path'),
  ]);
  // An empty or relative path counts as unset (https://specifications.freedesktop.org/basedir).
  const [given, caches, local] = ['NODE_COMPILE_CACHE', 'XDG_CACHE_HOME', 'LOCALAPPDATA'].map((name) => {
    const folder = process.env[name] ?? '';
    return path.isAbsolute(folder) ? folder : undefined;
  });
  const ofSystem = process.platform === 'win32' ? local : caches;
  const folder = given ?? path.join(ofSystem ?? path.join(os.homedir(), '.cache'), 'assay', 'compiled');
  nodeModule.enableCompileCache(folder);
  process.env['NODE_COMPILE_CACHE'] = folder;
}

/**
 * Calls leave no garbage that survives them, so a large young generation costs memory and gains nothing: under load V8
 * lets the process grow to 213 MB, with this limit to 137 MB (docs/adr/0009). V8 accepts the flag only at startup, so
 * `serve` replaces itself with the same command plus the flag: same process id, 40 ms later.
 */
function boundYoungGeneration(): void {
  const flag = '--max-semi-space-size';
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (process.argv[2] !== 'serve' || given.some((option) => option.includes(flag))) return;
  if (process.platform === 'win32' || process.execve === undefined) return;
  const { execPath, execArgv, argv, env } = process;
  process.execve(execPath, [execPath, `${flag}=16`, ...execArgv, ...argv.slice(1)], env);
}
