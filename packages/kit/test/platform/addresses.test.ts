import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getLiteralReach, resolveReaches, getReach } from '../../src/platform/addresses.ts';
import type { Reach } from '../../src/reach.ts';

/** First and last address of each block that IANA lists as not globally reachable, and the addresses next to them. */
const TABLE: readonly (readonly [Reach, readonly string[]])[] = [
  ['public', ['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '93.184.215.14', '100.63.255.255']],
  [
    'public',
    ['100.128.0.0', '126.255.255.255', '128.0.0.0', '168.63.129.17', '169.253.255.255', '169.255.0.0'],
  ],
  [
    'public',
    ['172.15.255.255', '172.32.0.1', '191.255.255.255', '192.0.1.0', '192.31.196.1', '192.52.193.1'],
  ],
  [
    'public',
    ['192.88.98.255', '192.167.255.255', '192.169.0.0', '192.175.48.1', '198.17.255.255', '198.20.0.0'],
  ],
  ['public', ['223.255.255.255', '2000::', '2606:4700::1111', '2620:4f:8000::1', '3ffe::', '2001:200::']],
  ['loopback', ['127.0.0.0', '127.0.0.1', '127.255.255.254', '::1', '[::1]', '0:0:0:0:0:0:0:1']],
  ['private', ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1']],
  ['private', ['100.64.0.0', '100.127.255.255', 'fc00::', 'fd12::1', 'fd20:ce::253', 'fdff::1']],
  ['link-local', ['169.254.0.0', '169.254.1.1', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
  ['metadata', ['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.0.23', '169.254.42.42']],
  ['metadata', ['100.100.100.200', '168.63.129.16', '192.0.0.192']],
  ['metadata', ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42']],
  ['reserved', ['0.0.0.0', '0.255.255.255', '192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.2.1']],
  ['reserved', ['192.88.99.1', '198.18.0.0', '198.19.255.255', '198.51.100.1', '203.0.113.255']],
  ['reserved', ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255']],
  ['reserved', ['::', '100::1', '100:0:0:1::1', '200::1', '400::', '1fff::', '4000::', '5f00::1', 'f000::']],
  ['reserved', ['2001:1::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:30::1', '2001:1ff::1']],
  ['reserved', ['2001:db8::1', '3fff::', '3fff:fff::1', 'fec0::1', 'ff02::1', 'fe00::1']],
  ['reserved', ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4.5', '2130706433', '::ffff:0:0:0:0:0:0:0:1']],
];

it.each(TABLE)('the reach %s has the addresses %s', (reach, addresses) => {
  expect(addresses.map((address) => [address, getReach(address)])).toEqual(
    addresses.map((address) => [address, reach]),
  );
});

/** How IPv6 embeds an IPv4 address, and whether that form is still in use. */
const EMBEDDINGS: readonly (readonly [string, (hex: string, inverted: string) => string, string])[] = [
  ['IPv4-mapped', (hex) => `::ffff:${hex}`, 'in use'],
  ['NAT64', (hex) => `64:ff9b::${hex}`, 'in use'],
  ['IPv4-translated', (hex) => `::ffff:0:${hex}`, 'given up'],
  ['IPv4-compatible', (hex) => `::${hex}`, 'given up'],
  ['NAT64 with a local prefix', (hex) => `64:ff9b:1::${hex}`, 'given up'],
  ['NAT64 with a longer local prefix', (hex) => `64:ff9b:1:2:3:4:${hex}`, 'given up'],
  ['6to4', (hex) => `2002:${hex}::1`, 'given up'],
  ['a Teredo server', (hex) => `2001:0:${hex}::f7f7:f7f7`, 'given up'],
  ['a Teredo client', (_, inverted) => `2001:0:808:808::${inverted}`, 'given up'],
];

describe.each(EMBEDDINGS)('an address containing an IPv4 address as %s', (_, embed, use) => {
  it(
    use === 'in use'
      ? 'has the reach of that IPv4 address'
      : 'is reserved, unless the IPv4 address has a more dangerous reach',
    () => {
      fc.assert(
        fc.property(fc.oneof(SPECIAL, fc.ipV4()), (ipv4) => {
          const bytes = ipv4.split('.').map(Number);
          const groups = (flip: number): string =>
            [0, 2]
              .map((at) => ((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) ^ flip).toString(16))
              .join(':');
          const address = embed(groups(0), groups(0xffff));
          const inner = getReach(ipv4);
          const isKept = use === 'in use' || inner === 'metadata' || inner === 'link-local';
          const expected = address === '::0:1' ? 'loopback' : isKept ? inner : 'reserved';
          expect([address, getReach(address)]).toEqual([address, expected]);
        }),
      );
    },
  );
});

const SPECIAL = fc.constantFrom(
  ...TABLE.flatMap(([, addresses]) => addresses).filter((address) =>
    /^(?:\d{1,3}\.){3}\d{1,3}$/.test(address),
  ),
);

it('a host name has the reaches of all its addresses, and an unknown one has none', async () => {
  expect(await resolveReaches('localhost')).toEqual(['loopback']);
  expect(await resolveReaches('[::1]')).toEqual(['loopback']);
  expect(await resolveReaches('nobody.invalid')).toEqual([]);
});

it.each([
  ['127.0.0.1', 'loopback'],
  ['[::1]', 'loopback'],
  ['[fe80::1]', 'link-local'],
  ['::ffff:10.0.0.1', 'private'],
  ['localhost', undefined],
  ['127.0.0.1.example', undefined],
  ['', undefined],
])('%j is a literal address that is %s', (hostname, reach) => {
  expect(getLiteralReach(hostname)).toBe(reach);
});
