import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { followRotating, readRotating, RotatingFile } from '../../src/platform/rotating-file.ts';
import { until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';

const LINES = Array.from({ length: 30 }, (_, index) => `line ${String(index).padStart(2, '0')} é`);
const MAX_BYTES = 100;

describe('a rotating file', () => {
  it('keeps the last lines in two files of limited size, readable by this user only', async () => {
    const path = join(tempDir(), 'log');
    const file = new RotatingFile(path, MAX_BYTES);
    for (const line of LINES) {
      file.write(`${line}\n`);
      await file.flush();
    }
    const { lines: kept } = await readRotating(path);
    expect(kept.length).toBeGreaterThan(MAX_BYTES / 12);
    expect(kept).toEqual(LINES.slice(-kept.length));
    for (const one of [path, `${path}.1`]) {
      expect(statSync(one).size).toBeLessThanOrEqual(MAX_BYTES);
      expect(statSync(one).mode & 0o777).toBe(0o600);
    }
  });

  it('is followed through its rotations: each line once, in order', async () => {
    const path = join(tempDir(), 'log');
    const file = new RotatingFile(path, MAX_BYTES);
    file.write('before\n');
    await file.flush();
    const seen: string[] = [];
    const stopping = new AbortController();
    const { lines, position } = await readRotating(path);
    expect(lines).toEqual(['before']);
    const following = followRotating(path, {
      from: position,
      onLine: (line) => seen.push(line),
      signal: stopping.signal,
    });
    for (const [index, line] of LINES.entries()) {
      file.write(`${line}\n`);
      // A reader sees every line as long as it reads between two rotations.
      if (index % 5 === 4) {
        await file.flush();
        await until('the lines were seen', () => (seen.length > index ? true : undefined));
      }
    }
    stopping.abort();
    await following;
    expect(seen).toEqual(LINES);
  });
});
