import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const KYSELY_FOLDER = join(ROOT, 'node_modules', 'kysely');

// A start that reads fewer files is a shorter one: docs/adr/0027.
await build({
  cwd: ROOT,
  input: {
    main: 'src/main.ts',
    program: 'src/app/program.ts',
    // The thread of SQLite is started by the name of its file.
    'sqlite-worker': 'src/adapters/store/sqlite-worker.ts',
  },
  platform: 'node',
  // Packages are not taken in: npm installs them, and whoever audits finds them. Kysely's 300 modules were half of a
  // command's start: docs/adr/0052.
  external: /^(?!kysely$)[^./]/,
  output: {
    dir: 'dist',
    cleanDir: true,
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'kysely', test: /node_modules[\\/]kysely[\\/]/ }] },
    // Its license asks for its text in each copy.
    banner: ({ name }) =>
      name === 'kysely' ? `/*!\n${readFileSync(join(KYSELY_FOLDER, 'LICENSE'), 'utf8')}*/` : '',
  },
});

// Processes of their own, and what the modules that it runs import as "assay-mcp". Built apart: what it shared with the
// program would be one file more at each start.
await build({
  cwd: ROOT,
  input: {
    'function-runner': 'src/functions/runner.ts',
    'define-tool': 'src/functions/define-tool.ts',
    'filter-worker': 'src/adapters/sources/http/filter-worker.ts',
  },
  platform: 'node',
  external: /^[^./]/,
  output: { dir: 'dist', chunkFileNames: 'function-[name].js' },
});

// For the editors of those who write function modules. Each export says its type, so the file alone suffices.
const declared = ts.transpileDeclaration(readFileSync(join(ROOT, 'src/functions/define-tool.ts'), 'utf8'), {
  compilerOptions: { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024 },
});
writeFileSync(join(ROOT, 'dist', 'define-tool.d.ts'), declared.outputText);

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
