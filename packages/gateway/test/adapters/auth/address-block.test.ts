import { expect, it } from 'vitest';
import { toAddressBlock } from '../../../src/adapters/auth/failures.ts';

it('an IPv4 address stands for itself, also when mapped into IPv6', () => {
  for (const [address, block] of [
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:10.0.0.1', '10.0.0.1'],
    ['', ''],
  ] as const)
    expect([address, toAddressBlock(address)]).toEqual([address, block]);
});

it('an IPv6 address stands for the network that one machine may own', () => {
  for (const [address, block] of [
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['2001:db8:0:0:ffff::', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['64:ff9b::10.0.0.1', '64:ff9b:0:0'],
  ] as const)
    expect([address, toAddressBlock(address)]).toEqual([address, block]);
});
