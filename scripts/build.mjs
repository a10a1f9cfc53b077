import { join } from 'node:path';
import { build } from 'rolldown';

// A start that reads fewer files is a shorter one: docs/adr/0027.
await build({
  cwd: join(import.meta.dirname, '..'),
  // The thread of SQLite is started by the name of its file.
  input: { main: 'src/main.ts', 'sqlite-worker': 'src/adapters/store/sqlite-worker.ts' },
  platform: 'node',
  // Packages are not taken in: npm installs them, and whoever audits finds them.
  external: /^[^./]/,
  output: { dir: 'dist', cleanDir: true, chunkFileNames: '[name].js' },
});
