import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { err } from '@assay-mcp/kit/result';
import { tempDir } from '../../../test/support/paths.ts';
import { fetchPackage } from '../src/package/fetch-package.ts';

it('the registry is that of the user, and a .npmrc in the folder of the server learns nothing', async () => {
  const home = tempDir();
  writeFileSync(join(home, '.npmrc'), 'registry=http://127.0.0.1:9/home/\n');
  const cwd = tempDir();
  writeFileSync(join(cwd, '.npmrc'), 'registry=http://127.0.0.1:9/${ASSAY_SECRET}/\n');
  const started: (readonly string[])[] = [];
  const fetched = await fetchPackage(
    { spec: 'example', name: 'example', bin: undefined, args: [] },
    {
      cwd,
      ownEnv: { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: home, ASSAY_SECRET: 's3cr3t' },
      startFetcher: ({ args }) => {
        started.push(args);
        return Promise.resolve(err('not started'));
      },
      signal: new AbortController().signal,
    },
  );
  expect(fetched).toEqual({ ok: false, error: 'not started' });
  expect(started[0]).toContain('--registry=http://127.0.0.1:9/home/');
});
