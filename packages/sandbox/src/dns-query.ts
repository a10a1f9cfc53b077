const HEADER_BYTES = 12;
const MAX_NAME = 253;

/** The name that a DNS query asks for (RFC 1035, 4.1); undefined if these bytes are not a query. */
export function readQueriedName(message: Buffer): string | undefined {
  if (message.length < HEADER_BYTES + 1) return undefined;
  const isResponse = ((message[2] ?? 0) & 0x80) !== 0;
  if (isResponse || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length !== 0; length = message[at] ?? 0) {
    if (length > 63 || at + 1 + length + 4 >= message.length) return undefined;
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const name = labels.join('.');
  return name.length === 0 || name.length > MAX_NAME || !/^[!-~]+$/.test(name)
    ? undefined
    : name.toLowerCase();
}

const TYPE_A = 1;
const TTL_S = 60;

/** The response to a query for `name`: its address, or that it has none of this type. */
export function buildDnsAnswer(query: Buffer, name: string, address: string | undefined): Buffer {
  // A length before each label and a zero after the last, then type and class.
  const end = HEADER_BYTES + name.length + 2 + 4;
  const answer = Buffer.from(query.subarray(0, end));
  const hasAddress = address !== undefined && query.readUInt16BE(end - 4) === TYPE_A;
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(hasAddress ? 1 : 0, 6);
  answer.fill(0, 8, HEADER_BYTES);
  if (!hasAddress) return answer;
  // A pointer to the name in the question, class IN, and a four-byte address.
  const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, TTL_S, 0, 4]);
  return Buffer.concat([answer, record, Buffer.from(address.split('.').map(Number))]);
}
