/** Repeated units that fill an object, an array or a string of a message. */
export const FILLINGS: Readonly<Record<string, readonly [open: string, unit: string, close: string]>> = {
  'members without a name': ['{', '"":0,', '"z":0}'],
  'short members': ['{', '"ab":1,', '"z":0}'],
  'members with escaped names': ['{', '"\\u0069\\u0064x":1,', '"z":0}'],
  'members with names beyond ASCII': ['{', '"ſK":1,', '"z":0}'],
  'planned members in arrays': ['[', '{"id":1,"ID":2},', '0]'],
  'tiny elements': ['[', '0,', '0]'],
  'empty arrays': ['[', '[],', '0]'],
  'nested arrays': ['[', '[[[[[[[[]]]]]]]],', '0]'],
  'white space': ['[', '0 \n\t,', '0]'],
  'a long string': ['"', 'x', '"'],
  'a string of quotes': ['"', '\\"', '"'],
  'a string of backslashes': ['"', '\\\\', '"'],
  'a string of escapes': ['"', '\\u0041', '"'],
  'a long number': ['', '1', ''],
};

/** Bytes of about this size: a prefix, as many units as fit, and a suffix. */
export function filled(
  sizeBytes: number,
  { before, unit, after }: { before: string; unit: string; after: string },
): Buffer {
  const room = Math.max(sizeBytes - before.length - after.length, 0);
  const body = Buffer.alloc(Math.floor(room / unit.length) * unit.length, unit);
  return Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
}
