import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm run dev` finds the gateway. */
const SERVE = process.env.ASSAY_SERVE ?? 'http://127.0.0.1:4444';

/** Modules of dialogs, menus and panels, which are loaded when one is opened. */
const OPENED_LATER =
  /floating|Popover|Portal|Modal|Drawer|FocusTrap|Menu|Tooltip|ScrollArea|remove-scroll|SegmentedControl/;

const BASE = '/admin/';

/** Loads at once what `start.ts` evaluates one after another. */
const loadParts = {
  name: 'load-parts',
  transformIndexHtml: (_html, { bundle = {}, chunk }) => {
    const files = new Set();
    const add = (file) => {
      if (files.has(file) || chunk.imports.includes(file)) return;
      files.add(file);
      bundle[file].imports.forEach(add);
    };
    chunk?.dynamicImports.forEach(add);
    const styles = new Set(
      // Styles of what is imported come first.
      [...files].reverse().flatMap((file) => [...(bundle[file].viteMetadata?.importedCss ?? [])]),
    );
    const link = (rel, file) => ({
      tag: 'link',
      attrs: { rel, crossorigin: '', href: `${BASE}${file}` },
      injectTo: 'head',
    });
    return [
      ...[...files].map((file) => link('modulepreload', file)),
      ...[...styles].map((file) => link('stylesheet', file)),
    ];
  },
};

const MANTINE_STYLES = /@mantine\/core\/esm\/components\/.*\/(\w+)\.module\.mjs$/;

/** Fails the build if a component of Mantine is used without its style sheet: it would be drawn without bounds. */
const checkStyles = {
  name: 'check-styles',
  generateBundle(_options, bundle) {
    const sheets = [...this.getModuleIds()].filter((id) => id.endsWith('.css'));
    const missing = Object.values(bundle)
      .flatMap(({ modules = {} }) => Object.keys(modules).filter((id) => modules[id].renderedLength > 0))
      .flatMap((id) => MANTINE_STYLES.exec(id)?.[1] ?? [])
      .filter((name) => !sheets.some((id) => id.endsWith(`/@mantine/core/styles/${name}.css`)));
    const elsewhere = sheets.filter(
      (id) => !this.getModuleInfo(id).importers.every((by) => by.endsWith('/styles.ts')),
    );
    if (missing.length > 0)
      this.error(
        `packages/admin/src/styles.ts lacks these files of @mantine/core/styles: ${missing.join(', ')}`,
      );
    if (elsewhere.length > 0)
      this.error(`only packages/admin/src/styles.ts may import style sheets: ${elsewhere.join(', ')}`);
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: BASE,
  plugins: [react(), loadParts, checkStyles],
  build: {
    outDir: join(import.meta.dirname, '..', 'gateway', 'dist', 'admin'),
    emptyOutDir: true,
    license: { fileName: 'licenses.json' },
    target: 'es2022',
    // A data: URL for a script or a font would need a weaker content-security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most pages use is one file: over HTTP/1.1, each of many small ones waits for its turn.
          // Those that `start.ts` evaluates one after another are apart.
          groups: [
            { name: 'preload', test: /preload-helper/, priority: 2 },
            { name: 'react', test: /node_modules\/(?:react|react-dom|scheduler)\//, priority: 2 },
            { name: 'tanstack', test: /node_modules\/@tanstack\//, priority: 2 },
            { name: 'shared', test: (id) => !OPENED_LATER.test(id), minShareCount: 3 },
          ],
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
        '/stops',
        '/tokens',
        '/sessions',
        '/export',
        '/import',
        '/instructions',
        '/openapi',
      ].map((path) => [path, { target: SERVE }]),
    ),
  },
});
