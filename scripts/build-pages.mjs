import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const ROOT = join(import.meta.dirname, '..');
const PAGES = join(ROOT, 'packages', 'gateway', 'dist', 'admin');

/** Builds the admin pages into the gateway's dist/admin, with compressed files beside the plain ones. */
export async function buildPages() {
  await build({ configFile: join(ROOT, 'packages', 'admin', 'vite.config.mjs'), logLevel: 'warn' });
  for (const name of readdirSync(PAGES, { recursive: true })) {
    if (!/\.(?:html|js|css|svg)$/.test(name)) continue;
    const bytes = readFileSync(join(PAGES, name));
    writeFileSync(join(PAGES, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(PAGES, `${name}.br`), brotliCompressSync(bytes, { params }));
  }
}
