#!/usr/bin/env node
// The build puts this import into this file: an older Node could not parse the rest of the program.
import { endWithReader } from '@assay-mcp/kit/platform/end-with-reader';
import { hasNeededNode, keepCompiled } from '@assay-mcp/kit/platform/start-program';

/** Commands that run for long under load. */
const RELAYS: ReadonlySet<string | undefined> = new Set(['serve', 'stdio']);

if (hasNeededNode('Assay')) {
  boundYoungGeneration();
  keepCompiled();
  // A client that closes its side ends the session of `stdio`, in order.
  if (process.argv[2] !== 'stdio') endWithReader();
  const { parseStdioOptions, serveStdio } = await import('./app/serve-stdio.ts');
  const plain = parseStdioOptions(process.argv);
  // A client that attaches starts no servers here.
  const startsServers = plain !== undefined && plain.attach !== true;
  const early = startsServers ? await (await import('./app/early-start.ts')).startEarly(plain) : undefined;
  if (RELAYS.has(process.argv[2])) await disablePretenuring();
  if (plain === undefined) {
    const { runProgram } = await import('./app/program.ts');
    process.exitCode = await runProgram(process.argv);
  } else {
    // A client waits for this start, so the command line is not loaded.
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
