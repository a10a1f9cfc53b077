import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { brotliDecompress } from 'node:zlib';
import { GRAMMARS, detectLanguage } from './languages.ts';

/** Compiled WebAssembly of the parser's runtime and of grammars, by their names. */
export type ParserModules = ReadonlyMap<string, WebAssembly.Module>;

export const RUNTIME = 'runtime';
/** From this many bytes of source in a language, optimized code saves more time than compiling it takes. */
const MIN_BYTES = 500_000;
/** Each has a function for which V8's optimizing compiler needs 60 to 550 MB. */
const TOO_LARGE: ReadonlySet<string> = new Set(['bash', 'c-sharp', 'cpp', 'ruby']);
/** Both flags are needed: with only the first, V8 would optimize all functions at once. */
const BASELINE_ONLY = ['--no-wasm-dynamic-tiering', '--no-wasm-tier-up'];
/** In one thread, because the memory that each thread uses is not returned. */
const OPTIMIZING = ['--no-liftoff', '--no-wasm-lazy-compilation', '--wasm-num-compilation-tasks=1'];
const NOT_OPTIMIZING = ['--liftoff', '--wasm-lazy-compilation', '--wasm-num-compilation-tasks=128'];

/** Keeps V8 from optimizing WebAssembly in this process: a function of some grammars would need 550 MB. */
export function keepUnoptimized(): void {
  BASELINE_ONLY.forEach(setFlagsFromString);
}

/** The modules worth optimizing for these files, by name. None if there are few files. */
export function selectForOptimizing(
  files: Iterable<{ readonly path: string; readonly size: number }>,
): readonly string[] {
  const bytes = new Map<string, number>();
  for (const { path, size } of files) {
    const language = detectLanguage(path, '');
    if (language !== 'text') bytes.set(GRAMMARS[language], (bytes.get(GRAMMARS[language]) ?? 0) + size);
  }
  const large = [...bytes].filter(([, sum]) => sum >= MIN_BYTES).map(([name]) => name);
  return large.length === 0 ? [] : [RUNTIME, ...large.filter((name) => !TOO_LARGE.has(name))];
}

/**
 * Compiles with V8's optimizing compiler at once, which takes 0.5 s of processor time for the runtime and 0.1 s for a
 * grammar, and saves a third of the time of parsing. Nothing else in the process may compile WebAssembly meanwhile.
 */
export async function compileOptimized(names: readonly string[]): Promise<ParserModules> {
  const modules = new Map<string, WebAssembly.Module>();
  for (const name of names) {
    const bytes = await readWasm(name);
    OPTIMIZING.forEach(setFlagsFromString);
    try {
      modules.set(name, new WebAssembly.Module(bytes));
    } finally {
      NOT_OPTIMIZING.forEach(setFlagsFromString);
    }
  }
  return modules;
}

/** The WebAssembly of the runtime or of a grammar. A build contains those in use, compressed to a fifteenth. */
export async function readWasm(name: string): Promise<Uint8Array> {
  if (extname(import.meta.url) === '.ts') return readFile(locateWasm(name));
  return promisify(brotliDecompress)(
    await readFile(join(import.meta.dirname, 'grammars', `${name}.wasm.br`)),
  );
}

/** Where the packages that provide it have it. */
export function locateWasm(name: string): string {
  const path =
    name === RUNTIME
      ? 'web-tree-sitter/web-tree-sitter.wasm'
      : `@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`;
  return createRequire(import.meta.url).resolve(path);
}
