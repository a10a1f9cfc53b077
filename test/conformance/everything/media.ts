/** One red pixel. */
export const RED_PIXEL_PNG: string =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** Eight samples of silence at 8 kHz, 8 bits, one channel. */
export const SILENCE_WAV: string = silence().toString('base64');

function silence(): Buffer {
  const samples = Buffer.alloc(8, 0x80);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20); // uncompressed
  head.writeUInt16LE(1, 22); // channels
  head.writeUInt32LE(8_000, 24); // samples per second
  head.writeUInt32LE(8_000, 28); // bytes per second
  head.writeUInt16LE(1, 32); // bytes per sample
  head.writeUInt16LE(8, 34); // bits per sample
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
