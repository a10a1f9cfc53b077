import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import ts from 'typescript';
import { buildPages } from './build-pages.mjs';
import { takeBuiltins, toAscii } from './take-builtins.ts';

const ROOT = join(import.meta.dirname, '..');

const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** npm installs the packages in `dependencies`; all others are bundled (docs/adr/0099). */
const external = new RegExp(`^(?:${Object.keys(dependencies).join('|')})(?:/|$)`);
/** zod is both: function modules may import it, and as a package it is about 100 files (docs/adr/0089). */
const externalButZod = (id) => external.test(id) && !/^zod(?:\/|$)/.test(id);
const [kysely, zod, mcpClient] = [
  { name: 'kysely', packages: 'kysely' },
  { name: 'zod', packages: 'zod' },
  { name: 'mcp-client', packages: '@modelcontextprotocol[\\\\/](?:client|core)' },
].map(({ name, packages }) => ({
  name,
  test: new RegExp(`node_modules[\\\\/]${packages}[\\\\/]`),
  priority: 20,
}));

/** The licenses of bundled packages ask for their texts in each copy. */
const banner = ({ moduleIds }) => {
  const folders = moduleIds.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]);
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .map(licenseOf)
    .join('\n');
};

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e(?:\.|$)/i.test(one));
  const text = file === undefined ? license : readFileSync(join(folder, file), 'utf8');
  return `/*! ${name} ${version}\n${text.replaceAll('*/', '* /')}*/`;
}

// Each file costs a start about half a millisecond, so what a start imports is one file for each of its stages
// (docs/adr/0056): what starts the first servers, the gateway, and the command line.
const stages = ['early-start', 'stdio', 'program'].map((module, index) => ({
  name: `${module}-all`,
  // It takes in all that the module imports, but for what an earlier stage has.
  test: new RegExp(`src[\\\\/]app[\\\\/]${module}\\.ts$`),
  priority: 10 - index,
}));

/** Last, because the bundler prints the code anew after each chunk is rendered. */
const builtins = {
  name: 'builtins',
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk');
    for (const chunk of chunks) chunk.code = toAscii(takeBuiltins(chunk.code));
    // A module that is one of many in its file is imported through a file that only names its exports.
    for (const { fileName, code, isEntry } of chunks) {
      const [, target] = /^export \{ [\w$, ]+ \} from ("[^"]+");\s*$/.exec(code) ?? [];
      if (target === undefined || isEntry) continue;
      for (const chunk of chunks)
        chunk.code = chunk.code.replaceAll(`import("./${fileName}")`, `import(${target})`);
      delete bundle[fileName];
    }
  },
};

/** V8 keeps the source in memory, so documentation stays in the repository. */
const comments = { jsdoc: false };

await build({
  cwd: ROOT,
  input: { main: 'src/main.ts', program: 'src/app/program.ts' },
  platform: 'node',
  // Of a package that is taken in, the form with separate imports.
  resolve: { mainFields: ['module', 'main'] },
  external: externalButZod,
  plugins: [builtins],
  output: {
    dir: 'dist',
    cleanDir: true,
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [kysely, zod, mcpClient, ...stages] },
    minifyInternalExports: false,
    banner,
    comments,
  },
});

// The thread of SQLite, started by the name of its file. Built apart, so that it loads nothing of the program's.
await build({
  cwd: ROOT,
  input: { 'sqlite-worker': 'src/adapters/store/sqlite-worker.ts' },
  platform: 'node',
  external: externalButZod,
  plugins: [builtins],
  output: {
    dir: 'dist',
    chunkFileNames: 'sqlite-[name].js',
    codeSplitting: { groups: [kysely] },
    banner,
    comments,
  },
});

// The code-search server and its threads. Built apart, so that no other start loads any of it.
await build({
  cwd: ROOT,
  input: {
    'codebase-program': 'src/codebase/program.ts',
    'chunk-worker': 'src/codebase/chunks/chunk-worker.ts',
    'index-worker': 'src/codebase/indexing/index-worker.ts',
  },
  platform: 'node',
  external: externalButZod,
  plugins: [builtins],
  output: { dir: 'dist', chunkFileNames: 'codebase-[name].js', banner, comments },
});

// The verifier of hints and its thread, for the same reason.
await build({
  cwd: ROOT,
  input: { 'verify-program': 'src/verify/program.ts', 'verify-worker': 'src/app/verify-worker.ts' },
  platform: 'node',
  external: externalButZod,
  plugins: [builtins],
  output: { dir: 'dist', chunkFileNames: 'verify-[name].js', banner, comments },
});

// Processes of their own, and what the modules that it runs import as "assay-mcp". Built apart: what it shared with the
// program would be one file more at each start.
await build({
  cwd: ROOT,
  input: {
    'function-runner': 'src/functions/runner.ts',
    'define-tool': 'src/functions/define-tool.ts',
    'confined-server': 'src/functions/confined-server.ts',
    'filter-worker': 'src/adapters/sources/http/filter-worker.ts',
    'document-worker': 'src/adapters/sources/openapi/document-worker.ts',
    'comparison-worker': 'src/verify/state/comparison-worker.ts',
  },
  platform: 'node',
  external,
  output: { dir: 'dist', chunkFileNames: 'function-[name].js', banner },
});

// For the editors of those who write function modules. Each export says its type, so the file alone suffices.
const declared = ts.transpileDeclaration(readFileSync(join(ROOT, 'src/functions/define-tool.ts'), 'utf8'), {
  compilerOptions: { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024 },
});
writeFileSync(join(ROOT, 'dist', 'define-tool.d.ts'), declared.outputText);

// For editors of the config file.
const { configSchema } = await import('../src/adapters/config/config-schema.ts');
writeFileSync(join(ROOT, 'assay.schema.json'), `${JSON.stringify(configSchema(), undefined, 2)}\n`);

// The page at /docs. As a dependency of the program its own dependency would report each installation to its maker.
const SWAGGER_UI = join(ROOT, 'node_modules', 'swagger-ui-dist');
const PAGE = join(ROOT, 'dist', 'swagger-ui');
mkdirSync(PAGE, { recursive: true });
for (const file of [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
])
  copyFileSync(join(SWAGGER_UI, file), join(PAGE, file));

// `npm run dev` serves the pages itself.
if (!process.argv.includes('--without-pages')) await buildPages();
