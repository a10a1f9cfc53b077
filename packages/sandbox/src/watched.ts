import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { SandboxGap } from './support.ts';
import type { DiscardedChanges } from './discarded-changes.ts';
import type { ObservedDenial } from './denial.ts';
import type { ChildOptions } from '@assay-mcp/kit/platform/child';
import { findCommand } from '@assay-mcp/kit/platform/machine';
import { SEARCHED } from './enforcement.ts';
import { classifyNoiseByName } from './noise.ts';
import { STRACE_ARGS } from './setup-script.ts';
import { type Trace, TraceReader } from './trace-reader.ts';
import { TRACED_CALLS } from './traced-events.ts';

/** How to start a command with limited rights. */
export interface Confined extends ChildOptions {
  /** What it was denied; available once it has ended, if it was watched. */
  readonly denials?: () => Promise<readonly ObservedDenial[]>;
  /** The last connections that it was denied so far. */
  readonly refused?: () => readonly ObservedDenial[];
  /** Set if it may change its roots without effect. `hold` must be called with the process, or it does not start. */
  readonly discarded?: DiscardedChanges;
  /** Called when it has ended. */
  readonly onEnd?: () => void;
}

/** Size limit of the trace, in blocks of 512 bytes. */
const TRACE_BLOCKS = 131_072;
/** Sends DNS queries to the loopback interface, where nothing answers: a query shows which host the server wants. */
const RESOLVER = 'nameserver 127.0.0.1\n';
const RESOLVER_FILE = '/etc/resolv.conf';

/** The same process under strace, which records what it is denied. */
export async function wrapWithStrace(
  options: ChildOptions,
  cwd: string,
): Promise<Result<Confined, Extract<SandboxGap, 'strace'>>> {
  const strace = await findCommand('strace', { cwd: '/', path: SEARCHED });
  if (strace.kind !== 'found') return err('strace');
  const folder = await mkdtemp(join(tmpdir(), 'assay-denials-'));
  const [file, resolver] = [join(folder, 'trace'), join(folder, 'resolver')];
  await writeFile(resolver, RESOLVER);
  const tracing = [strace.path, ...STRACE_ARGS, '-o', file, '-e', `trace=${TRACED_CALLS.join(',')}`];
  const shell = ['-c', `ulimit -f ${TRACE_BLOCKS}; exec "$@"`, 'sh'];
  return ok({
    ...options,
    command: '/bin/sh',
    args: [...shell, ...tracing, options.command, ...withResolver(options.args, resolver)],
    denials: async () => {
      const context = { cwd, secretAt: () => undefined };
      try {
        return findDenials(await new TraceReader(context).read(file));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  });
}

function withResolver(args: readonly string[], resolver: string): readonly string[] {
  const at = args.findIndex((arg, index) => arg === RESOLVER_FILE && args[index + 1] === RESOLVER_FILE);
  return at < 0 ? args : args.with(at, resolver);
}

/** The denials; those that are certainly writes come before those that may only have been reads. */
export function findDenials({
  events,
  network,
}: Pick<Trace, 'events' | 'network'>): readonly ObservedDenial[] {
  const refused = events.filter(({ error }) => error === 'EROFS');
  const writes = [
    ...refused.filter(({ kind }) => kind !== 'open_to_write'),
    ...refused.filter(({ kind }) => kind === 'open_to_write'),
  ].flatMap((event): readonly ObservedDenial[] => {
    const target = 'to' in event ? event.to : 'path' in event ? event.path : undefined;
    if (target === undefined) return [];
    const isNoise = classifyNoiseByName({ path: target, isPrivate: false }) !== undefined;
    return [
      {
        ...{ kind: 'write', target, atMs: event.atMs },
        ...(event.kind === 'open_to_write' && { mayBeRead: true }),
        ...(isNoise && { isNoise: true }),
      },
    ];
  });
  const connections = network.map((request): ObservedDenial => {
    const { kind, atMs } = request;
    if (kind === 'http') return { kind: 'connect', target: request.url, atMs };
    return {
      kind: 'connect',
      target: kind === 'dns' ? request.name : `${request.host}:${request.port}`,
      atMs,
    };
  });
  return [...writes, ...connections];
}
