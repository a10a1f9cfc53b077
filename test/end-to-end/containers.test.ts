import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { openSession } from '../support/legacy.ts';
import { ROOT, tempDir } from '../support/paths.ts';

it('a container that outlives its process is removed when Assay ends', async () => {
  const state = tempDir();
  const command = join(tempDir(), 'docker');
  const script = (name: string): string => join(ROOT, 'test', 'fixtures', `${name}.ts`);
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${script('docker')}" "$@"\n`);
  chmodSync(command, 0o755);
  // The shell ignores SIGTERM, and so does what it starts.
  const stubborn = `trap '' TERM; exec "${process.execPath}" "${script('plain')}" --stubborn`;
  const args = ['run', '-i', '--rm', 'image', '/bin/sh', '-c', stubborn];
  const assay = await startGateway({
    servers: { s: { command, args, env: { DOCKER_STATE: state }, stopTimeoutMs: 200 } },
  });
  await assay.settled();
  const session = await openSession(assay.url);
  expect(await session.call('s_label')).toBe('plain');
  const containers = (): readonly string[] => readdirSync(state).filter((name) => name.endsWith('.json'));
  expect(containers()).toHaveLength(1);
  await assay.stop();
  expect(containers()).toEqual([]);
});
