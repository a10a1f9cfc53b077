import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const ROOT = join(import.meta.dirname, '..');
/** Where `npm run dev:web` finds a running `assay serve`. */
const SERVE = process.env.ASSAY_SERVE ?? 'http://127.0.0.1:4444';

export default defineConfig({
  root: import.meta.dirname,
  base: '/admin/',
  plugins: [react()],
  build: {
    outDir: join(ROOT, 'dist', 'admin'),
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL for a script or a font would need a weaker content-security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      [
        '/admin/sign-in',
        '/admin/sign-out',
        '/admin/session',
        '/tools',
        '/toolsets',
        '/policy',
        '/catalog',
        '/snippets',
        '/gateways',
        '/approvals',
        '/activity',
        '/events',
        '/status',
        '/preferences',
        '/tokens',
        '/export',
        '/import',
      ].map((path) => [path, { target: SERVE }]),
    ),
  },
});
