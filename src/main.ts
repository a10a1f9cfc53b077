#!/usr/bin/env node
// Nothing is imported before this check: an older Node could not even parse what follows.
const NEEDED = [22, 19];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [neededMajor = 0, neededMinor = 0] = NEEDED;

if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  process.stderr.write(
    `Assay needs Node ${NEEDED.join('.')} or newer; this is ${process.version} (${process.execPath}).\n` +
      'Install a newer one, for example with `npm install --global node@24`, or from https://nodejs.org.\n',
  );
  process.exitCode = 1;
} else {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  const { runProgram } = await import('./compose.ts');
  process.exitCode = await runProgram(process.argv);
}
