import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const ROOT = join(import.meta.dirname, '..');
/** Where `npm run dev:web` finds a running `assay serve`. */
const SERVE = process.env.ASSAY_SERVE ?? 'http://127.0.0.1:4444';

/** Modules of dialogs, menus and panels, which are loaded when one is opened. */
const OPENED_LATER =
  /floating|Popover|Portal|Modal|Drawer|FocusTrap|Menu|Tooltip|ScrollArea|remove-scroll|SegmentedControl/;

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
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most pages use is one file: over HTTP/1.1, each of many small ones waits for its turn.
          groups: [{ name: 'shared', test: (id) => !OPENED_LATER.test(id), minShareCount: 3 }],
        },
      },
    },
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
        '/sessions',
        '/export',
        '/import',
      ].map((path) => [path, { target: SERVE }]),
    ),
  },
});
