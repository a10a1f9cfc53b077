import { describe, expect, it } from 'vitest';
import { MAX_WAITING_BYTES, Stderr } from '../../src/platform/stderr.ts';
import { until } from '../../../../test/support/endings.ts';

/** A reader that accepts as many bytes as it has room for; the test gives it more. */
function openReader() {
  const reader = { room: 0, code: 'EAGAIN', tries: 0, text: '' };
  const stderr = new Stderr({
    onDropped: (count) => `dropped ${count}\n`,
    take: (bytes) => {
      reader.tries += 1;
      if (reader.room === 0) throw Object.assign(new Error('no room'), { code: reader.code });
      const taken = Math.min(bytes.length, reader.room);
      reader.room -= taken;
      reader.text += bytes.subarray(0, taken).toString();
      return taken;
    },
  });
  return { reader, stderr };
}

describe('lines to stderr', () => {
  it('are written immediately if there is room', () => {
    const { reader, stderr } = openReader();
    reader.room = 100;
    stderr.write('a\n');
    stderr.write('b\n');
    expect(reader.text).toBe('a\nb\n');
  });

  it('are queued in order while there is no room, including the rest of a partially written one', async () => {
    const { reader, stderr } = openReader();
    reader.room = 2;
    for (const line of ['one\n', 'two\n', 'ü\n']) stderr.write(line);
    expect(reader.text).toBe('on');
    reader.room = 100;
    await until('all is written', () => (reader.text === 'one\ntwo\nü\n' ? true : undefined));
  });

  it('are dropped beyond the limit, which is reported after the queued ones once there is room', async () => {
    const { reader, stderr } = openReader();
    const line = `${'x'.repeat(MAX_WAITING_BYTES / 4 - 1)}\n`;
    for (let time = 0; time < 7; time += 1) stderr.write(line);
    reader.room = Infinity;
    await until('the loss is told', () => (reader.text.includes('dropped') ? true : undefined));
    expect(reader.text === `${line.repeat(4)}dropped 3\n`).toBe(true);
    stderr.write('again\n');
    expect(reader.text.endsWith('dropped 3\nagain\n')).toBe(true);
  });

  it('are reported as dropped even if they keep arriving faster than they are read', async () => {
    const { reader, stderr } = openReader();
    const line = `${'x'.repeat(MAX_WAITING_BYTES / 16 - 1)}\n`;
    await until('the loss is told', () => {
      for (let time = 0; time < 4; time += 1) stderr.write(line);
      reader.room = line.length;
      return reader.text.includes('dropped') ? true : undefined;
    });
    expect(reader.text.split('dropped')[0]?.length).toBeLessThan(2 * MAX_WAITING_BYTES);
  });

  it('are dropped when the reader has closed', async () => {
    const { reader, stderr } = openReader();
    reader.code = 'EPIPE';
    stderr.write('a\n');
    const { tries } = reader;
    stderr.write('b\n');
    reader.room = 100;
    stderr.write('c\n');
    expect([tries, reader.tries, reader.text]).toEqual([1, 1, '']);
    await Promise.resolve();
  });
});
