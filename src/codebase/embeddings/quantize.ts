/** The sign of each number, one bit each, padded with zero bits. Near vectors share most signs. */
export function bitsOf(vector: Float32Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(vector.length / 8));
  vector.forEach((number, index) => {
    const at = index >> 3;
    if (number > 0) bits.writeUInt8(bits.readUInt8(at) | (1 << (index & 7)), at);
  });
  return bits;
}

/**
 * Each number as a signed byte, relative to the largest. The scale is dropped, since it does not change a cosine; the
 * rounding changes it by about 0.001, and the vector takes a quarter of the space.
 */
export function bytesOf(vector: Float32Array): Buffer {
  const largest = vector.reduce((max, number) => Math.max(max, Math.abs(number)), 0);
  return Buffer.from(Int8Array.from(vector, (number) => Math.round((number / largest) * 127)).buffer);
}
