import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/**
 * Where an address leads. `metadata`: the services that hand out credentials to a machine in a cloud. `reserved`: what is
 * no address of one machine, or holds another address inside that nobody here looks at.
 */
export type Reach = 'public' | 'private' | 'loopback' | 'link-local' | 'metadata' | 'reserved';

export function reachOf(address: string): Reach {
  const [bare = ''] = address.replace(/^\[(.*)\]$/, '$1').split('%');
  const kind = isIP(bare);
  if (kind === 0) return 'reserved';
  const family = kind === 4 ? 'ipv4' : 'ipv6';
  return TABLE.find(([, list]) => list.check(bare, family))?.[0] ?? 'public';
}

/** The reaches of all addresses of a host; empty where its name is not known. */
export async function reachesOf(hostname: string): Promise<readonly Reach[]> {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return [reachOf(bare)];
  const found = await lookup(bare, { all: true }).catch(() => []);
  return [...new Set(found.map(({ address }) => reachOf(address)))];
}

/** From the special-purpose registries of IANA (RFC 6890); the first that fits counts. IPv4 inside of ::ffff: counts as IPv4. */
const TABLE: readonly (readonly [Reach, BlockList])[] = [
  [
    'metadata',
    listOf(
      ...['169.254.169.254/32', '169.254.170.2/32', '100.100.100.200/32', '168.63.129.16/32'],
      ...['fd00:ec2::/32', 'fd20:ce::254/128'],
    ),
  ],
  ['loopback', listOf('127.0.0.0/8', '::1/128')],
  ['link-local', listOf('169.254.0.0/16', 'fe80::/10')],
  ['private', listOf('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7')],
  [
    'reserved',
    listOf(
      ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
      ...['192.88.99.0/24', '224.0.0.0/4', '240.0.0.0/4'],
      ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16'],
      ...['3fff::/20', '5f00::/16', 'fec0::/10', 'ff00::/8'],
    ),
  ],
];

function listOf(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', bits = ''] = subnet.split('/');
    list.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
