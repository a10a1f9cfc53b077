const HEADER_BYTES = 12;
const MAX_NAME = 253;

/** The name that a DNS query asks for (RFC 1035, 4.1); undefined if these bytes are not a query. */
export function queriedName(message: Buffer): string | undefined {
  if (message.length < HEADER_BYTES + 1) return undefined;
  const isResponse = ((message[2] ?? 0) & 0x80) !== 0;
  if (isResponse || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length !== 0; length = message[at] ?? 0) {
    if (length > 63 || at + 1 + length >= message.length) return undefined;
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const name = labels.join('.');
  return name.length === 0 || name.length > MAX_NAME || !/^[!-~]+$/.test(name)
    ? undefined
    : name.toLowerCase();
}
