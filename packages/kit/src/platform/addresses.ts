import { toBareHost } from '../bare-host.ts';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Reach } from '../reach.ts';

/**
 * An IPv6 address that embeds an IPv4 address is classified as that one, since a gateway may extract and connect to it.
 * Deprecated forms stay reserved, unless the embedded address is worse.
 */
export function getReach(address: string): Reach {
  const [bare = ''] = toBareHost(address).split('%');
  const kind = isIP(bare);
  if (kind === 0) return 'reserved';
  if (kind === 4) return reachIn(IPV4, bare, 'ipv4');
  const own = reachIn(IPV6, bare, 'ipv6');
  if (own === 'metadata' || own === 'loopback') return own;
  const inner = embeddedIn(bare).map((ipv4) => reachIn(IPV4, ipv4, 'ipv4'));
  const worst = WORST_FIRST.find((reach) => inner.includes(reach));
  return worst ?? (own === 'public' ? (inner[0] ?? own) : own);
}

const WORST_FIRST: readonly Reach[] = ['metadata', 'link-local'];

/** The reach of a URL's host that is an address, which no lookup checks. Undefined if it is a name. */
export function getLiteralReach(hostname: string): Reach | undefined {
  const bare = toBareHost(hostname);
  return isIP(bare) === 0 ? undefined : getReach(bare);
}

/** The reaches of all addresses of a host; empty if its name cannot be resolved. */
export async function resolveReaches(hostname: string): Promise<readonly Reach[]> {
  const literal = getLiteralReach(hostname);
  if (literal !== undefined) return [literal];
  const found = await lookup(hostname, { all: true }).catch(() => []);
  return [...new Set(found.map(({ address }) => getReach(address)))];
}

type Table = readonly (readonly [Reach, BlockList])[];

function reachIn(table: Table, address: string, family: 'ipv4' | 'ipv6'): Reach {
  return table.find(([, list]) => list.check(address, family))?.[0] ?? 'public';
}

/** IANA's IPv4 special-purpose registry (RFC 6890), multicast, and cloud metadata services. The first match counts. */
const IPV4: Table = [
  [
    'metadata',
    // Most clouds; AWS ECS and EKS; Tencent; Scaleway; Alibaba; Azure; Oracle.
    listOf(
      ...[
        '169.254.169.254/32',
        '169.254.170.2/32',
        '169.254.170.23/32',
        '169.254.0.23/32',
        '169.254.42.42/32',
      ],
      ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
    ),
  ],
  ['loopback', listOf('127.0.0.0/8')],
  ['link-local', listOf('169.254.0.0/16')],
  ['private', listOf('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10')],
  [
    'reserved',
    listOf(
      ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15'],
      ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
    ),
  ],
];

/**
 * The same for IPv6. Only 2000::/3 is allocated for global unicast (RFC 4291, section 2.4); ::ffff:0:0/96 and
 * 64:ff9b::/96 stand for IPv4.
 */
const IPV6: Table = [
  // AWS; AWS EKS is in the same network; Google; Scaleway.
  ['metadata', listOf('fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128')],
  ['loopback', listOf('::1/128')],
  ['link-local', listOf('fe80::/10')],
  ['private', listOf('fc00::/7')],
  [
    'reserved',
    listOf(
      // IETF protocol assignments with Teredo, benchmarking and ORCHID; documentation; 6to4; documentation.
      ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
    ),
  ],
  ['public', listOf('2000::/3', '::ffff:0:0/96', '64:ff9b::/96')],
  ['reserved', listOf('::/0')],
];

interface Embedding {
  readonly prefix: BlockList;
  /** Index of the 16-bit group that holds the upper half. */
  readonly group: number;
  readonly isInverted?: true;
}

/** IPv4-compatible, mapped (RFC 4291) and translated (RFC 2765), NAT64 (RFC 6052, 8215), 6to4 (RFC 3056), Teredo (RFC 4380). */
const EMBEDDINGS: readonly Embedding[] = [
  {
    prefix: listOf('::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'),
    group: 6,
  },
  { prefix: listOf('2002::/16'), group: 1 },
  { prefix: listOf('2001::/32'), group: 2 },
  { prefix: listOf('2001::/32'), group: 6, isInverted: true },
];

function embeddedIn(address: string): readonly string[] {
  const fitting = EMBEDDINGS.filter(({ prefix }) => prefix.check(address, 'ipv6'));
  if (fitting.length === 0) return [];
  const groups = groupsOf(address);
  return fitting.map(({ group, isInverted }) =>
    [groups[group] ?? 0, groups[group + 1] ?? 0]
      .map((half) => (isInverted === true ? half ^ 0xffff : half))
      .flatMap((half) => [half >> 8, half & 0xff])
      .join('.'),
  );
}

/** The eight groups of an IPv6 address, read from the normalized form that URL produces. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), read(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function listOf(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', bits = ''] = subnet.split('/');
    list.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
