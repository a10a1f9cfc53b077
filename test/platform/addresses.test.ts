import { expect, it } from 'vitest';
import { reachesOf, reachOf, type Reach } from '../../src/platform/addresses.ts';

it.each<readonly [Reach, readonly string[]]>([
  [
    'public',
    [
      '93.184.215.14',
      '8.8.8.8',
      '2606:4700::1111',
      '::ffff:8.8.8.8',
      '172.32.0.1',
      '11.0.0.0',
      '168.63.129.17',
    ],
  ],
  ['loopback', ['127.0.0.1', '127.255.255.254', '::1', '[::1]', '::ffff:127.0.0.1', '::ffff:7f00:1']],
  [
    'private',
    [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      'fd12::1',
      'fd20:ce::253',
      '::ffff:10.1.2.3',
    ],
  ],
  ['link-local', ['169.254.1.1', 'fe80::1', 'fe80::1%eth0', '::ffff:169.254.1.1']],
  [
    'metadata',
    [
      ...['169.254.169.254', '169.254.170.2', 'fd00:ec2::254', '::ffff:169.254.169.254', '100.100.100.200'],
      ...['168.63.129.16', '::ffff:168.63.129.16', 'fd20:ce::254'],
    ],
  ],
  [
    'reserved',
    [
      '0.0.0.0',
      '::',
      '224.0.0.1',
      '255.255.255.255',
      'ff02::1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '::7f00:1',
    ],
  ],
  ['reserved', ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4.5']],
])('of reach %s are %s', (reach, addresses) => {
  expect(addresses.map((address) => [address, reachOf(address)])).toEqual(
    addresses.map((address) => [address, reach]),
  );
});

it('a name has the reaches of all its addresses, and an unknown one none', async () => {
  expect(await reachesOf('localhost')).toEqual(['loopback']);
  expect(await reachesOf('[::1]')).toEqual(['loopback']);
  expect(await reachesOf('nobody.invalid')).toEqual([]);
});
