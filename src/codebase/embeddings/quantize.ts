/** The sign of each number, one bit each, padded with zero bits. Near vectors share most signs. */
export function quantizeToBits(vector: Float32Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(vector.length / 8));
  for (let at = 0; at < bits.length; at += 1) {
    let byte = 0;
    for (let bit = 0; bit < 8; bit += 1) if ((vector[at * 8 + bit] ?? 0) > 0) byte |= 1 << bit;
    bits[at] = byte;
  }
  return bits;
}

/**
 * Each number as a signed byte, relative to the largest. The scale is dropped, since it does not change a cosine; the
 * rounding changes it by about 0.001, and the vector takes a quarter of the space.
 */
export function quantizeToBytes(vector: Float32Array): Buffer {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  const bytes = new Int8Array(vector.length);
  vector.forEach((number, index) => {
    bytes[index] = Math.round((number / largest) * 127);
  });
  return Buffer.from(bytes.buffer);
}
