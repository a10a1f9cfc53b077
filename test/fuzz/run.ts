import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'rolldown';

/*
 * Fuzzes the readers of untrusted text with Jazzer.js (libFuzzer, guided by coverage):
 *
 *   npm install --no-save @jazzer.js/core@4    # once; needs glibc 2.38 or newer on Linux
 *   npm run fuzz -- [TARGET …] [--seconds 600]
 *
 * Its findings are written to `.fuzz/` with the command that reproduces them. Put such a file into `cases/<target>/`,
 * where `npm test` runs it from then on. The engine is not a dependency of the repository, since `npm test` does not
 * need it.
 */
const ROOT = join(import.meta.dirname, '..', '..');
const ENGINE = join(ROOT, 'node_modules', '@jazzer.js', 'core', 'dist', 'cli.js');
const WORK = join(ROOT, '.fuzz');

const EXAMPLES = ['3.0/json', '3.0/yaml', '3.1/json'].map((folder) =>
  join(ROOT, 'node_modules', '@readme', 'oas-examples', folder),
);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '600' } },
});
const all = readdirSync(join(import.meta.dirname, 'targets')).map((file) => file.replace(/\.ts$/, ''));
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`Unknown target ${unknown.join(', ')}. There are ${all.join(', ')}.`);
if (!existsSync(ENGINE)) throw new Error('Install the engine first: npm install --no-save @jazzer.js/core@4');

for (const target of positionals.length > 0 ? positionals : all) {
  await bundle(target);
  const code = await fuzz(target);
  if (code !== 0) process.exitCode = 1;
}

/** The engine instruments only CommonJS. */
async function bundle(target: string): Promise<void> {
  await build({
    cwd: ROOT,
    input: { [target]: `test/fuzz/targets/${target}.ts` },
    platform: 'node',
    external: /^[^./]/,
    output: { dir: WORK, format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
  });
}

async function fuzz(target: string): Promise<number> {
  const corpus = join(WORK, 'corpus', target);
  mkdirSync(corpus, { recursive: true });
  const engine = spawn(
    process.execPath,
    [
      ...[ENGINE, join(WORK, `${target}.cjs`), corpus, join(import.meta.dirname, 'cases', target)],
      ...(target === 'openapi' ? EXAMPLES : []),
      ...['--includes', '.fuzz', '--excludes', 'node_modules'],
      // A config file may name any path, even `~/../x`, and so may the calls of a trace.
      ...(['config', 'trace'].includes(target) ? ['--disableBugDetectors', 'path-traversal'] : []),
      '--',
      ...[`-max_total_time=${values.seconds}`, '-timeout=10', '-max_len=65536'],
      ...[`-artifact_prefix=${join(WORK, `${target}-`)}`, `-dict=${join(import.meta.dirname, 'words.dict')}`],
    ],
    { cwd: ROOT, stdio: 'inherit' },
  );
  const [code] = (await once(engine, 'close')) as [number | null];
  return code ?? 1;
}
