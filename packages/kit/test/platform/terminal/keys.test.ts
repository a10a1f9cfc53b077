import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTerminal } from '../../../../../test/hour/terminal.ts';
import { ROOT } from '../../../../../test/support/paths.ts';

const MODULE = join(ROOT, 'packages', 'kit', 'src', 'platform', 'terminal', 'keys.ts');
const USUAL = /\bisig icanon\b[^]*\becho\b/;

/** Runs a program that reads keys, and shows the state of the terminal after it. */
function runAtTerminal(onKey: string) {
  const code = `import { readKeys } from "${MODULE}"; readKeys((key) => { ${onKey} }); console.log("ready");`;
  const line = `sh -c '${process.execPath} --input-type=module -e "$CODE"; echo "exit code $?"; stty -a'`;
  return openTerminal(line, { cwd: ROOT, env: { ...process.env, CODE: code } });
}

it.runIf(process.platform === 'linux').each([
  ['a fault', 'setTimeout(() => { throw new Error(key); })', 'x', 1],
  ['process.exit', 'process.exit(7)', 'x', 7],
  ['SIGTERM', 'process.kill(process.pid, "SIGTERM")', 'x', 143],
  ['Ctrl+C', '', '\u0003', 130],
])('the terminal is as before after %s', async (_what, onKey, typed, code) => {
  const terminal = runAtTerminal(onKey);
  await terminal.until(/ready/);
  terminal.type(typed);
  await terminal.until(new RegExp(`exit code ${code}`));
  await terminal.ended();
  expect(terminal.output()).toMatch(USUAL);
});
