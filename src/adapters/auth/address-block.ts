/**
 * Whom an address stands for when failures are counted: itself, or of IPv6 its first 64 bits, as whoever has one such
 * address has all of them.
 */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  const [front = '', back] = bare.split('::');
  const groups = groupsOf(front);
  const end = back === undefined ? [] : groupsOf(back);
  const zeros = Array<string>(Math.max(8 - groups.length - end.length, 0)).fill('0');
  return [...groups, ...zeros, ...end].slice(0, 4).join(':');
}

/** An address in IPv4's form at the end stands for two groups, neither of which is among the first four. */
function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
