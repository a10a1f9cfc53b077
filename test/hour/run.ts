// `npm run hour -- FOLDER`: plays a first hour with Assay in a terminal of 80 columns, with real MCP servers from npm
// and real clients. Prints what it sees, and fails if a step does not end as expected, a line is too wide, a tool of
// the servers is missing in a client, or a file is not restored.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { cacheIn, PACKAGES } from './person.ts';
import { playHour } from './play.ts';

const HELP = `npm run hour -- FOLDER [--installed]

Installs MCP servers and Assay into FOLDER, and plays somebody's first hour with Assay there.
The transcript is printed, and written to FOLDER/hour.txt.

  --installed  use the servers that are in FOLDER already
`;
const PACKAGE = join(import.meta.dirname, '..', '..', 'packages', 'gateway');
const run = promisify(execFile);

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { installed: { type: 'boolean' } },
  });
  const [given] = positionals;
  if (given === undefined || positionals.length > 1) {
    console.error(HELP);
    return 2;
  }
  const prefix = resolve(given);
  const temp = mkdtempSync(join(tmpdir(), 'assay-hour-'));
  try {
    await run('script', ['--version']).catch(() => {
      throw new Error('`script` is missing; it makes the terminal. On Debian: apt-get install bsdutils');
    });
    await install(prefix, { temp, isReused: values.installed === true });
    const { transcript, faults } = await playHour({
      prefix,
      temp,
      registry: (await run('npm', ['config', 'get', 'registry'])).stdout.trim(),
    });
    writeFileSync(join(prefix, 'hour.txt'), transcript);
    console.error(faults.length === 0 ? '\nNothing is wrong.' : `\nWrong:\n  ${faults.join('\n  ')}`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** Installs Assay as a user does, from the package that would be published, and the servers into the cache of `npx`. */
async function install(
  prefix: string,
  { temp, isReused }: { readonly temp: string; readonly isReused: boolean },
): Promise<void> {
  mkdirSync(prefix, { recursive: true });
  console.error(`Installing Assay${isReused ? '' : ` and ${PACKAGES.length} servers`} into ${prefix} …`);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', temp];
  const packed = JSON.parse((await run('npm', pack, { cwd: PACKAGE })).stdout) as Readonly<
    Record<string, Packed>
  >;
  // An array; since npm 12, an object with the name as the key.
  const [{ filename } = { filename: '' }] = Object.values(packed);
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--global', '--prefix', prefix, ...quietly, join(temp, filename)], {
    cwd: temp,
  });
  if (isReused) return;
  const env = { ...process.env, npm_config_cache: cacheIn(prefix) };
  for (const name of PACKAGES)
    await run('npm', ['exec', '--yes', `--package=${name}`, '--', 'node', '--version'], { cwd: temp, env });
}

interface Packed {
  readonly filename: string;
}
