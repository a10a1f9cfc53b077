import { expect, it } from 'vitest';
import { openLog } from '../../../src/adapters/telemetry/log.ts';

it('a line is one JSON object: level, time, fields and message', () => {
  const lines: string[] = [];
  const log = openLog({
    level: 'info',
    terminal: undefined,
    mask: (text) => text.replaceAll('secret', '***'),
    write: (line) => lines.push(line),
  });
  const startMs = Date.now();
  log.debug('hidden');
  log.info('a secret\n', { server: 'secret', calls: 2, big: 2n ** 64n, none: undefined, nan: NaN });
  log.warn('two');
  log.error('three', { token: 'x', error: new RangeError('far') });
  expect(lines.every((line) => line.endsWith('}\n'))).toBe(true);
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const { time } of entries) expect(time).toBeGreaterThanOrEqual(startMs);
  expect(
    entries.map(({ time: _time, error, ...rest }) => ({ ...rest, error: String(error).slice(0, 15) })),
  ).toEqual([
    {
      level: 30,
      server: '***',
      calls: 2,
      big: '18446744073709551616',
      nan: null,
      msg: 'a ***\n',
      error: 'undefined',
    },
    { level: 40, msg: 'two', error: 'undefined' },
    { level: 50, token: '[masked]', msg: 'three', error: 'RangeError: far' },
  ]);
});
