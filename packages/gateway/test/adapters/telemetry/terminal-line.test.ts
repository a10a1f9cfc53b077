import { expect, it } from 'vitest';
import { formatTerminalLine } from '../../../src/adapters/telemetry/terminal-line.ts';

const time = new Date(2026, 0, 2, 3, 4, 5).getTime();
const lineOf = (entry: object): string =>
  formatTerminalLine(JSON.stringify({ time, level: 30, ...entry }), false);

it('a log entry is one line in a terminal: time, level, server, message, cause, other fields', () => {
  const entry = { level: 40, msg: 'server is down', server: 'github', cause: 'exited with code 1' };
  expect(lineOf({ ...entry, causeCode: 'PROCESS_EXITED', nextStartMs: 250, afterMs: 12, path: 'a b' })).toBe(
    '03:04:05 warn  github: server is down: exited with code 1 afterMs=12 path="a b"\n',
  );
});

it('a log entry cannot break its line, control the terminal or fill the screen', () => {
  const line = lineOf({ msg: 'a\n\u001b[2Jb', error: 'Error: x\n    at y\n    at z', files: ['\u202e'] });
  expect(line).toBe('03:04:05 info  a \\u001b[2Jb error="Error: x at y at z" files=["\\u202e"]\n');
  expect(lineOf({ msg: 'x'.repeat(100_000) }).length).toBeLessThan(1_100);
});

it('levels have colors if the terminal supports them', () => {
  const line = formatTerminalLine(JSON.stringify({ time, level: 50, msg: 'broken' }), true);
  expect(line).toBe('\u001b[2m03:04:05\u001b[22m \u001b[31merror\u001b[39m broken\n');
});
