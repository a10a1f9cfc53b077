import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig, type ViteUserConfigFnObject } from 'vitest/config';

/** What a test says that waited in vain: our own waits, vitest's, and those of the browser. */
const LATE = /[Nn]ot .*within \d+ ms|timed out in \d+ms|Timeout \d+ms exceeded/s;

// Tests of certificates are about those, whatever the machine tolerates.
delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];

// The processes of the tests, and those that they start, compile a file once.
process.env['NODE_COMPILE_CACHE'] ??= join(
  import.meta.dirname,
  'node_modules',
  '.cache',
  'assay-test',
  'compiled',
);

/** Whether the command line names a file of the long tests, which then runs without `--mode long` too. */
const namesLong = process.argv.some((argument) => argument.includes('.long.test'));

/**
 * `--mode long` is `npm run test:long`: `*.long.test.ts`, which take a browser, an installed package, a sandbox, many
 * kills or long waits, and the campaigns (`*.campaign.test.ts`) at full length. `npm test` runs a short form of the
 * campaigns, and everything else.
 */
const config: ViteUserConfigFnObject = defineConfig(({ mode }) => {
  const isLong = mode === 'long';
  return {
    test: {
      include: [`{,packages/*/}test/**/*${isLong ? '.{campaign,long}' : ''}.test.ts`],
      exclude: isLong || namesLong ? [] : ['**/*.long.test.ts'],
      // Files share a few processes, each of which loads the program, and starts one for commands, once.
      isolate: false,
      environment: 'node',
      // The build is loaded as Node loads it.
      server: { deps: { external: [/[\\/]dist[\\/]/] } },
      env: { ASSAY_TEST_LONG: String(isLong) },
      globalSetup: ['test/support/run.ts'],
      setupFiles: ['test/support/end-opened.ts'],
      pool: 'forks',
      execArgv: ['kysely-in-one-file', 'reused-threads'].flatMap((name) => [
        '--import',
        pathToFileURL(join(import.meta.dirname, 'test', 'support', `${name}.ts`)).href,
      ]),
      // Most tests wait for processes that they started, so more of them than there are cores run at a time.
      maxWorkers: 6,
      // Named, because vitest otherwise chooses by who is watching: the last lines are to be its summary everywhere.
      reporters: ['default'],
      // Against hanging alone: each wait in a test has a limit of its own. Tests that take longer by their nature say so.
      testTimeout: isLong ? 600_000 : 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 20_000 } },
      // A machine that others use too may be late. What is wrong otherwise fails at once, and on a desk so does what is late.
      retry: process.env['CI'] === 'true' ? { count: 1, condition: LATE } : 0,
    },
  };
});

export default config;
