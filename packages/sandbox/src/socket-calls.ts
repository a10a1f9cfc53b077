import type { NetworkAddress, NetworkRequest, TracedCall, TracedEvent } from './observation.ts';
import { readQueriedName } from './dns-query.ts';
import { parseDescriptorPath, parseStringBytes, type SystemCall } from './strace-lines.ts';

/** What a call did with the network; undefined if it is not a call on a socket. */
export interface NetworkCall {
  readonly event?: TracedEvent;
  readonly requests: readonly NetworkRequest[];
}

interface Socket {
  isDatagram: boolean;
  isDns: boolean;
}

const DNS_PORT = 53;
const MAX_SOCKETS = 5_000;
const NOTHING: NetworkCall = { requests: [] };

/** Follows sockets by their kernel names, because threads share descriptors. */
export class SocketCalls {
  readonly #sockets = new Map<string, Socket>();

  read(call: SystemCall, common: TracedCall): NetworkCall | undefined {
    switch (call.name) {
      case 'socket':
        this.#opened(call);
        return NOTHING;
      case 'connect':
        return this.#connected(call, common);
      case 'bind': {
        const address = readAddress(call.args[1]);
        return address === undefined
          ? NOTHING
          : { event: { ...common, kind: 'listen', address }, requests: [] };
      }
      case 'sendto':
        return this.#sent(call, common, { printed: [call.args[1] ?? ''], to: readAddress(call.args[4]) });
      case 'sendmsg':
      case 'sendmmsg': {
        const text = call.args[1] ?? '';
        const strings = [...text.matchAll(/iov_base=("(?:[^"\\]|\\.)*")/gs)].map(
          ([, printed]) => printed ?? '',
        );
        return this.#sent(call, common, { printed: strings, to: readAddress(text) });
      }
      default:
        return undefined;
    }
  }

  #opened({ args, result }: SystemCall): void {
    const name = parseDescriptorPath(result);
    if (name === undefined || !/^AF_INET6?$/.test(args[0] ?? '')) return;
    if (this.#sockets.size >= MAX_SOCKETS) this.#sockets.delete(this.#sockets.keys().next().value ?? '');
    this.#sockets.set(name, { isDatagram: args[1]?.includes('SOCK_DGRAM') === true, isDns: false });
  }

  #connected({ args }: SystemCall, common: TracedCall): NetworkCall {
    const address = readAddress(args[1]);
    // Resolvers connect datagram sockets to port 0 to see which address the system would use.
    if (address === undefined || (address.family !== 'unix' && address.port === 0)) return NOTHING;
    const socket = this.#sockets.get(parseDescriptorPath(args[0] ?? '') ?? '');
    if (socket !== undefined) socket.isDns = address.family !== 'unix' && address.port === DNS_PORT;
    return {
      event: { ...common, kind: 'connect', address },
      requests: requestTo(address, common, socket?.isDatagram === true ? 'udp' : 'tcp'),
    };
  }

  #sent(
    { args }: SystemCall,
    common: TracedCall,
    { printed, to }: { readonly printed: readonly string[]; readonly to: NetworkAddress | undefined },
  ): NetworkCall {
    const socket = this.#sockets.get(parseDescriptorPath(args[0] ?? '') ?? '');
    const isDns = to === undefined ? socket?.isDns === true : to.family !== 'unix' && to.port === DNS_PORT;
    const requests = isDns
      ? dnsRequests(printed, common)
      : to === undefined
        ? []
        : requestTo(to, common, 'udp');
    return { ...(to !== undefined && { event: { ...common, kind: 'send', address: to } }), requests };
  }
}

function dnsRequests(printed: readonly string[], { atMs, pid }: TracedCall): readonly NetworkRequest[] {
  const names = printed.map((text) =>
    readQueriedName(withoutLength(parseStringBytes(text) ?? Buffer.alloc(0))),
  );
  const found = [...new Set(names.filter((name) => name !== undefined))];
  return found.length === 0
    ? [{ atMs, pid, kind: 'dns' }]
    : found.map((name) => ({ atMs, pid, kind: 'dns', name }));
}

/** DNS over TCP puts the length of the message before it. */
function withoutLength(message: Buffer): Buffer {
  return message.length > 2 && message.readUInt16BE(0) === message.length - 2 ? message.subarray(2) : message;
}

function requestTo(
  address: NetworkAddress,
  { atMs, pid }: TracedCall,
  kind: 'tcp' | 'udp',
): readonly NetworkRequest[] {
  if (address.family === 'unix' || address.isLocal) return [];
  return [{ atMs, pid, kind, host: address.host, port: address.port }];
}

/** The first address in `{sa_family=AF_INET, …}`. */
export function readAddress(printed = ''): NetworkAddress | undefined {
  const port = Number(/sin6?_port=htons\((\d+)\)/.exec(printed)?.[1] ?? '0');
  const v4 = /inet_addr\("([\d.]+)"\)/.exec(printed)?.[1];
  if (v4 !== undefined) return { family: 'inet', host: v4, port, isLocal: isLocal(v4) };
  const v6 = /inet_pton\(AF_INET6, "([\da-fA-F:.]+)"/.exec(printed)?.[1];
  if (v6 !== undefined) return { family: 'inet6', host: v6, port, isLocal: isLocal(v6) };
  const [, at, path] = /sun_path=(@?)("(?:[^"\\]|\\.)*")/s.exec(printed) ?? [];
  if (path === undefined) return undefined;
  return { family: 'unix', path: (at ?? '') + (parseStringBytes(path)?.toString() ?? '') };
}

function isLocal(host: string): boolean {
  return /^(?:127[.]|0[.]0[.]0[.]0$|::1?$|::ffff:(?:127[.]|0[.]0[.]0[.]0$))/.test(host);
}
