import assert from 'node:assert/strict';
import { readConfigText } from '../../../packages/gateway/src/adapters/config/load-config.ts';

const AROUND = { env: { HOME: '/home/ada', TOKEN: 'secret' }, cwd: '/home/ada', home: '/home/ada' };

/** A config file is read or refused with a line and column, without an exception. */
export function fuzz(bytes: Buffer): void {
  const text = bytes.toString();
  const config = readConfigText('/home/ada/mcp.json', text, AROUND);
  if (!config.ok) {
    assert.equal(config.error.code, 'CONFIG_INVALID');
    return;
  }
  const lines = text.split(/\r\n|\r|\n/).length;
  for (const { line } of [...config.value.problems, ...config.value.warnings])
    assert.ok(line >= 1 && line <= lines, `line ${line} of ${lines}`);
}
