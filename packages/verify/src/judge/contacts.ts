// Effects on others: hosts, services, processes, shared memory, and the system itself.
import type {
  NetworkAddress,
  NetworkRequest,
  Observation,
  TracedEvent,
} from '@assay-mcp/sandbox/observation';
import { type Effect, createPlainEffect } from './effect.ts';

/** Not reached because the service is outside the sandbox, or does not exist. */
const UNREACHED: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES', 'EPERM', 'EPROTOTYPE']);
/** Look-ups of names of users and hosts by the C library, and the log of the system. */
const HARMLESS_SERVICE =
  /^(?:\/var)?\/run\/(?:nscd\/socket|systemd\/(?:userdb|resolve|journal)\/.*)$|^\/var\/lib\/sss\/pipes\/|^\/dev\/log$/;

/** Attempts to reach services of this machine. Those that the server itself offers are reached. */
export function findServiceContacts({ events }: Observation): readonly Effect[] {
  return events.flatMap((event): readonly Effect[] => {
    if (event.kind !== 'connect' && event.kind !== 'send') return [];
    const { address, error, atMs } = event;
    if (address.family !== 'unix' || error === undefined || !UNREACHED.has(error)) return [];
    if (HARMLESS_SERVICE.test(address.path)) return [];
    const message = `tried to reach ${address.path}`;
    return [{ ...createPlainEffect('service', message, address.path), atMs, noise: undefined }];
  });
}

/** Calls that would change the system. */
const ON_SYSTEM: ReadonlySet<string> = new Set([
  ...['mount', 'umount2', 'setns', 'bpf', 'init_module', 'finit_module', 'delete_module', 'kexec_load'],
  ...['reboot', 'swapon', 'swapoff', 'acct', 'clock_settime', 'settimeofday', 'sethostname', 'setdomainname'],
  ...['add_key', 'request_key', 'keyctl'],
]);

/** Attempts to act on what a sandbox hides. */
export function findHiddenTargets({ events }: Observation): readonly Effect[] {
  const found = new Map<string, Effect>();
  for (const event of events) {
    const attempt = attemptOf(event);
    if (attempt === undefined || found.has(attempt.target)) continue;
    const { message, target } = attempt;
    found.set(target, {
      ...createPlainEffect('hidden', message, target),
      atMs: event.atMs,
      noise: undefined,
    });
  }
  return [...found.values()];
}

function attemptOf(event: TracedEvent): { readonly message: string; readonly target: string } | undefined {
  switch (event.kind) {
    case 'signal':
      return {
        message: `tried to signal or change process ${event.process} (${event.call})`,
        target: `process ${event.process}`,
      };
    case 'shared_memory':
      return { message: `used what other programs share (${event.name})`, target: event.name };
    case 'privileged':
      return event.error !== undefined && ON_SYSTEM.has(event.call)
        ? { message: `tried ${event.call}`, target: event.call }
        : undefined;
    default:
      return undefined;
  }
}

export function findNetworkContacts({ network: requests, events }: Observation): readonly Effect[] {
  const found = new Map<string, Effect>();
  const add = (target: string, message: string, atMs: number): void => {
    if (!found.has(target))
      found.set(target, { ...createPlainEffect('network', message, target), atMs, noise: undefined });
  };
  for (const request of requests) {
    const target = requestTarget(request);
    add(target, `${REQUEST_VERBS[request.kind]} ${target}`, request.atMs);
  }
  const recorded = requests.length > 0;
  for (const event of events)
    if ((event.kind === 'connect' || event.kind === 'send') && isOutside(event.address) && !recorded)
      add(
        formatNetworkAddress(event.address),
        `contacted ${formatNetworkAddress(event.address)}`,
        event.atMs,
      );
  return [...found.values()];
}

const MAX_HOSTS = 50;

/** The hosts that a server asked for, without repetitions. */
export function listHosts(observations: readonly Observation[]): readonly string[] {
  const requests = observations.flatMap(({ network }) => network);
  const targets = requests.map((request) => {
    if (request.kind === 'http') return URL.parse(request.url)?.hostname ?? request.url;
    return request.kind === 'dns' ? requestTarget(request) : request.host;
  });
  return [...new Set(targets)].slice(0, MAX_HOSTS);
}

const REQUEST_VERBS: Readonly<Record<NetworkRequest['kind'], string>> = {
  dns: 'asked for the address of',
  tcp: 'contacted',
  udp: 'contacted',
  http: 'requested',
};

function requestTarget(request: NetworkRequest): string {
  if (request.kind === 'http') return request.url;
  return request.kind === 'dns' ? (request.name ?? 'an unreadable name') : `${request.host}:${request.port}`;
}

function isOutside(address: NetworkAddress): boolean {
  return address.family !== 'unix' && !address.isLocal;
}

export function formatNetworkAddress(address: NetworkAddress): string {
  if (address.family === 'unix') return address.path;
  return address.family === 'inet6' ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
