import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');

// A start that reads fewer files is a shorter one: docs/adr/0027.
await build({
  cwd: ROOT,
  // The thread of SQLite is started by the name of its file.
  input: { main: 'src/main.ts', 'sqlite-worker': 'src/adapters/store/sqlite-worker.ts' },
  platform: 'node',
  // Packages are not taken in: npm installs them, and whoever audits finds them.
  external: /^[^./]/,
  output: { dir: 'dist', cleanDir: true, chunkFileNames: '[name].js' },
});

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
