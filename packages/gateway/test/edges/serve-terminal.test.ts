import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatServeLines, formatServersLine } from '../../src/edges/cli/serve-terminal.ts';
import type { ServerStatus } from '../../src/api/status.ts';

it('paths are shown from the home of the user, and long ones by their end', () => {
  const long = `/srv/${'folder-with-a-long-name/'.repeat(5)}mcp.json`;
  const facts = {
    version: '1.2.3',
    endpoint: 'http://127.0.0.1:4444/mcp',
    exposed: `the toolset "${'x'.repeat(80)}" with 20 tools`,
    logPath: join(homedir(), '.assay', 'serve.log'),
  };
  const lines = formatServeLines({ ...facts, configPath: long }, 80);
  expect(lines.map((line) => line.length).every((length) => length <= 80)).toBe(true);
  expect(lines[0]).toBe(`Assay 1.2.3 serves …${long.slice(-60)}`);
  expect(lines[2]).toContain('the toolset "xxx');
  expect(lines[3]).toBe('  log       ~/.assay/serve.log (assay logs -f)');
});

it('the line about servers names those that failed, or counts them if there are too many', () => {
  const status = (name: string, state: ServerStatus['state'], tools?: number): ServerStatus => ({
    name,
    state,
    ...(tools !== undefined && { tools }),
  });
  const servers = [status('a', 'up', 3), status('b', 'idle', 4), status('c', 'starting')];
  expect(formatServersLine(servers, 80)).toBe('3 servers with 7 tools, 1 still starting');
  const failed = [...servers, status('bad\u001B[2J', 'refused')];
  expect(formatServersLine(failed, 80)).toBe(
    '4 servers with 7 tools, 1 still starting; failed: bad\\u001b[2J (assay status)',
  );
  expect(formatServersLine(failed, 60)).toBe(
    '4 servers with 7 tools, 1 still starting; 1 failed (assay status)',
  );
});
