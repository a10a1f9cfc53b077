import { expect, it } from 'vitest';
import type { ServerSpec } from '../../src/core/server-spec.ts';
import { StudyClaims } from '../../src/gateway/catalog/study-claims.ts';

function specOf(name: string): ServerSpec {
  const args = [`/srv/node_modules/${name}/index.js`];
  return {
    name,
    transport: { kind: 'stdio', command: 'node', args, env: {}, cwd: '/srv' },
  } as unknown as ServerSpec;
}

it('once it is closed, the files that are being read are given up and no others are begun', async () => {
  const begun: string[] = [];
  const study = new StudyClaims({
    load: () =>
      ({
        packages: new Map([
          ['one', []],
          ['two', []],
        ]),
      }) as never,
    findInstallation: ({ name }, _cwd, { signal }) => {
      begun.push(name);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
    },
    nowMs: () => 1,
  });
  const settled = [study.settled(specOf('one')), study.settled(specOf('two'))];
  await Promise.resolve();
  study.close();
  await Promise.all(settled);
  expect(begun).toEqual(['one']);
});
