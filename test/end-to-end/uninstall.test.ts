import { existsSync, mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newUser } from '../support/client-configs.ts';
import { isAlive, until } from '../support/endings.ts';
import { findGatewayPid } from '../support/gateway-pid.ts';
import { at, listAt, parseJson } from '../support/json.ts';
import { fixture } from '../support/paths.ts';
import { openPipe } from '../support/stdio.ts';

it('assay uninstall undoes each connect of the home, ends its gateway, and says what it leaves', async () => {
  const user = newUser();
  const before = JSON.stringify({ mcpServers: { plain: fixture('plain') } });
  const file = user.write(before, '.cursor', 'mcp.json');
  const project = user.at('project');
  mkdirSync(user.at('project', '.cursor'), { recursive: true });
  expect((await user.assay('setup', '--yes')).code).toBe(0);
  expect((await user.assay('connect', 'cursor', '--all', '--project', project)).code).toBe(0);
  const args = listAt(user.json('.cursor', 'mcp.json'), 'mcpServers', 'assay', 'args').map(String);
  const pipe = openPipe(args, { HOME: user.home });
  await pipe.initialize();
  // Its client would start another one, so it is known by its process.
  const gateway = findGatewayPid(user.assayHome) ?? 0;
  const connected = user.read('.cursor', 'mcp.json');

  const asked = await user.assay('uninstall');
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('there is no terminal to ask on')]);
  const planned = await user.assay('uninstall', '--dry-run');
  expect(planned.stdout).toContain(`Would restore ${file} byte for byte.`);
  expect(user.read('.cursor', 'mcp.json')).toBe(connected);

  const done = await user.assay('uninstall', '--yes', '--json');
  expect([done.code, parseJson(done.stdout)]).toEqual([
    0,
    expect.objectContaining({
      clients: [expect.objectContaining({ path: file }), expect.objectContaining({ change: 'removed' })],
      failures: [],
      left: { home: user.assayHome, commands: [`rm -r ${user.assayHome}`, 'npm uninstall -g assay-mcp'] },
    }),
  ]);
  expect(user.read('.cursor', 'mcp.json')).toBe(before);
  expect(existsSync(user.at('project', '.cursor', 'mcp.json'))).toBe(false);
  await until('the gateway has ended', () => (isAlive(gateway) ? undefined : true));
  await pipe.stop();

  const again = await user.assay('uninstall', '--dry-run');
  expect(again.stdout).toContain('No file of a client has entries that `assay connect` wrote.');
  expect(at(parseJson((await user.assay('uninstall', '--yes', '--json')).stdout), 'clients')).toEqual([]);
});
