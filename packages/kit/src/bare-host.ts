/** The host of a URL without the brackets of an IPv6 address, as sockets and lookups want it. */
export function toBareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
