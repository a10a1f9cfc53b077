/** A host that a sandboxed server may connect to. */
export interface AllowedHost {
  /** In lower case, without brackets. With `isBelow`: any host below this one. */
  readonly host: string;
  readonly isBelow: boolean;
  /** Undefined if any port is allowed. */
  readonly port: number | undefined;
}

export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** In a list of hosts: all. A server that may write then shares the network of this machine. */
export const ANY_HOST = '*';

const HOST = /^(?:\[([\da-f:.]+)\]|(\*\.)?([a-z\d_](?:[a-z\d_.-]*[a-z\d_])?)\.?)(?::(\d{1,5}))?$/;

/** Parses `api.example.com`, `*.example.com`, `[::1]:8080`. Undefined if the text has another form. */
export function readAllowedHost(text: string): AllowedHost | undefined {
  const [, address, star, name, port] = HOST.exec(text.toLowerCase()) ?? [];
  const host = address ?? name;
  const number = port === undefined ? undefined : Number(port);
  if (host === undefined || (number !== undefined && (number < 1 || number > 65_535))) return undefined;
  return { host, isBelow: star !== undefined, port: number };
}

/** Parses `host:port`, the target of a proxy request. Undefined if the text has another form. */
export function readDestination(text: string): Destination | undefined {
  const found = readAllowedHost(text);
  if (found?.port === undefined || found.isBelow) return undefined;
  return { host: found.host, port: found.port };
}

/**
 * Whether a list allows a destination: `named` if it names the exact host, which may then be at a private address;
 * `any` if a wildcard matches. An absent list allows any.
 */
export function findAllowance(
  { host, port }: Destination,
  list: readonly string[] | undefined,
): 'named' | 'any' | undefined {
  if (list === undefined) return 'any';
  const fitting = list
    .flatMap((text) => readAllowedHost(text) ?? [])
    .filter((one) => one.port === undefined || one.port === port)
    .filter((one) => (one.isBelow ? host.endsWith(`.${one.host}`) : host === one.host));
  if (fitting.length === 0) return list.includes(ANY_HOST) ? 'any' : undefined;
  return fitting.some(({ isBelow }) => !isBelow) ? 'named' : 'any';
}

export function formatDestination({ host, port }: Destination): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
