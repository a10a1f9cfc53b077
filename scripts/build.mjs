import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'rolldown';
import ts from 'typescript';
import { buildPages } from './build-pages.mjs';
import { BundledPackages } from './bundled-packages.mjs';
import { takeBuiltins, toAscii } from './take-builtins.ts';

const ROOT = join(import.meta.dirname, '..');

/** A package that is published, while it is built. */
function openPackage(name) {
  const folder = join(ROOT, 'packages', name);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const installed = new Set(Object.keys(dependencies));
  for (const file of ['LICENSE', 'CHANGELOG.md']) copyFileSync(join(ROOT, file), join(folder, file));
  return {
    folder,
    dist: join(folder, 'dist'),
    bundled: new BundledPackages(),
    /** npm installs the packages in `dependencies`; all others are bundled (docs/adr/0099). */
    isInstalled: (id) => installed.has(/^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]),
  };
}

const gateway = openPackage('gateway');
const verify = openPackage('verify');
const codebase = openPackage('codebase');

/** zod is both: function modules may import it, and as a package it is about 100 files (docs/adr/0089). */
const isExternal = (id) => gateway.isInstalled(id) && !/^zod(?:\/|$)/.test(id);
const [kysely, zod, mcpClient] = [
  { name: 'kysely', packages: 'kysely' },
  { name: 'zod', packages: 'zod' },
  { name: 'mcp-client', packages: '@modelcontextprotocol[\\\\/](?:client|core)' },
].map(({ name, packages }) => ({
  name,
  test: new RegExp(`node_modules[\\\\/]${packages}[\\\\/]`),
  priority: 20,
}));

// Each file costs a start about half a millisecond, so what a start imports is one file for each of its stages
// (docs/adr/0056): what starts the first servers, what commands share with the gateway, the gateway, the command line,
// and what most commands use.
const stages = Object.entries({
  'serve-stdio': 'gateway/src/app/serve-stdio',
  'early-start': 'gateway/src/app/early-start',
  command:
    'gateway/src/(?:core/(?:errors|sentences|refusal|refusal-cause|subject|token)|adapters/config/client-configs/own-entry)|kit/src/(?:capitalize|counted|stem-word|version)',
  stdio: 'gateway/src/app/stdio',
  program: 'gateway/src/app/program',
  client: 'gateway/src/(?:app/api|edges/cli/(?:ask|common-options|output|with-api))',
}).map(([stage, modules], index) => ({
  name: `${stage}-all`,
  // It takes in all that the modules import, but for what an earlier stage has.
  test: new RegExp(`(?:${modules.replaceAll('/', '[\\\\/]')})\\.ts$`),
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

/** Builds files of a package that share no module with its others, so that no start loads what it does not need. */
async function buildFiles({ folder, dist, bundled, isInstalled }, files, { output, ...options } = {}) {
  await build({
    cwd: folder,
    input: files,
    platform: 'node',
    external: isInstalled,
    plugins: [builtins],
    ...options,
    output: { dir: dist, chunkFileNames: '[name].js', banner: bundled.banner, comments, ...output },
  });
}

await buildFiles(
  gateway,
  { main: 'src/main.ts', program: 'src/app/program.ts' },
  {
    // Of a package that is taken in, the form with separate imports.
    resolve: { mainFields: ['module', 'main'] },
    external: isExternal,
    output: {
      cleanDir: true,
      codeSplitting: { groups: [kysely, zod, mcpClient, ...stages] },
      minifyInternalExports: false,
    },
  },
);

// The thread of SQLite, started by the name of its file.
await buildFiles(
  gateway,
  { 'sqlite-worker': 'src/adapters/store/sqlite-worker.ts' },
  {
    external: isExternal,
    output: { chunkFileNames: 'sqlite-[name].js', codeSplitting: { groups: [kysely] } },
  },
);

// The verdicts of the study. A release of new ones changes nothing else.
writeFileSync(
  join(gateway.dist, 'verdicts.json.br'),
  brotliCompressSync(readFileSync(join(gateway.folder, 'verdicts.json'))),
);

// Processes of their own, and what the modules that it runs import as "assay-mcp".
await buildFiles(
  gateway,
  {
    'function-runner': '../functions/src/runner.ts',
    'define-tool': '../functions/src/define-tool.ts',
    'confined-server': '../functions/src/confined-server.ts',
    'filter-worker': 'src/adapters/sources/http/filter-worker.ts',
    'document-worker': 'src/adapters/sources/openapi/document-worker.ts',
  },
  { plugins: [], output: { chunkFileNames: 'function-[name].js', comments: undefined } },
);

await buildFiles(
  verify,
  { program: 'src/program.ts', main: 'src/main.ts', 'verify-worker': 'src/verify-worker.ts' },
  { output: { cleanDir: true } },
);
// A process of its own, in a sandbox that shows it one file.
await buildFiles(verify, { 'comparison-worker': 'src/state/comparison-worker.ts' }, { plugins: [] });

await buildFiles(
  codebase,
  {
    program: 'src/program.ts',
    main: 'src/main.ts',
    'chunk-worker': 'src/chunks/chunk-worker.ts',
    'index-worker': 'src/indexing/index-worker.ts',
    'outline-worker': 'src/symbols/outline-worker.ts',
  },
  // In web-tree-sitter, for modules with inline JavaScript, which no grammar has.
  { checks: { eval: false }, output: { cleanDir: true } },
);

// The grammars of code search, which are 20 MB of WebAssembly. A higher quality takes seconds, and saves a tenth.
const { GRAMMARS } = await import('../packages/codebase/src/chunks/languages.ts');
const { locateWasm, RUNTIME } = await import('../packages/codebase/src/chunks/compile-parsers.ts');
const PACKED = join(codebase.dist, 'grammars');
codebase.bundled.addCopied(join(ROOT, 'node_modules', '@vscode', 'tree-sitter-wasm'));
mkdirSync(PACKED);
copyFileSync(join(ROOT, 'packages/codebase/src/chunks/grammars-license.txt'), join(PACKED, 'LICENSE'));
const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 };
for (const name of new Set([RUNTIME, ...Object.values(GRAMMARS)]))
  writeFileSync(
    join(PACKED, `${name}.wasm.br`),
    brotliCompressSync(readFileSync(locateWasm(name)), { params }),
  );

// For the editors of those who write function modules. Each export says its type, so the file alone suffices.
const declared = ts.transpileDeclaration(
  readFileSync(join(ROOT, 'packages/functions/src/define-tool.ts'), 'utf8'),
  {
    compilerOptions: { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024 },
  },
);
writeFileSync(join(gateway.dist, 'define-tool.d.ts'), declared.outputText);

// For editors of the config file.
const { configSchema } = await import('../packages/gateway/src/adapters/config/config-schema.ts');
writeFileSync(join(gateway.folder, 'assay.schema.json'), `${JSON.stringify(configSchema(), undefined, 2)}\n`);

// The page at /docs. As a dependency of the program its own dependency would report each installation to its maker.
const SWAGGER_UI = join(ROOT, 'node_modules', 'swagger-ui-dist');
const PAGE = join(gateway.dist, 'swagger-ui');
gateway.bundled.addCopied(SWAGGER_UI);
mkdirSync(PAGE, { recursive: true });
for (const file of [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
])
  copyFileSync(join(SWAGGER_UI, file), join(PAGE, file));

// The table that makes names readable in ASCII, which is loaded only if a name needs it.
const ANY_ASCII = join(ROOT, 'node_modules', 'any-ascii');
const TABLE = join(gateway.dist, 'any-ascii');
gateway.bundled.addCopied(ANY_ASCII);
mkdirSync(TABLE, { recursive: true });
for (const file of ['any-ascii.js', 'block.js', 'LICENSE'])
  copyFileSync(join(ANY_ASCII, file), join(TABLE, file));

// What `assay docs` prints.
const GUIDES = join(gateway.dist, 'docs');
mkdirSync(GUIDES, { recursive: true });
for (const file of readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md')))
  copyFileSync(join(ROOT, 'docs', file), join(GUIDES, file));

mkdirSync(join(ROOT, 'dist'), { recursive: true });
writeFileSync(
  join(ROOT, 'dist', 'main.js'),
  "#!/usr/bin/env node\nimport '../packages/gateway/dist/main.js';\n",
);
// `npm run dev` serves the pages itself.
if (!process.argv.includes('--without-pages')) {
  await buildPages();
  gateway.bundled.addLicensesFile(join(gateway.dist, 'admin', 'licenses.json'));
}
for (const { dist, bundled } of [gateway, verify, codebase]) bundled.write(join(dist, 'bundled.json'));
