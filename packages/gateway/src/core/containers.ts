import type { ServerSpec } from './server-spec.ts';
import { getSourceKind } from './sources/source-kinds.ts';

/** Default of `stopTimeoutMs` for a container: the time that `docker stop` gives one. */
const CONTAINER_STOP_MS = 10_000;

/** Maximum of `stopTimeoutMs`. */
export const MAX_STOP_TIMEOUT_MS = 60_000;

const LABEL = 'assay.instance';

/** How long a server's process may take to end after its stdin closed, and again after SIGTERM. Undefined: the default. */
export function getStopTimeoutMs({ transport, stopTimeoutMs }: ServerSpec): number | undefined {
  const command = getSourceKind(transport).command(transport)?.command;
  return (
    stopTimeoutMs ?? (command !== undefined && isContainerRuntime(command) ? CONTAINER_STOP_MS : undefined)
  );
}

/** A command that starts a container, with a label, and how to find the containers with it. */
export interface LabelledContainer {
  readonly args: readonly string[];
  /** Arguments that list the ids of these containers. */
  readonly listArgs: readonly string[];
  /** Arguments that remove containers, to which their ids are added. */
  readonly removeArgs: readonly string[];
}

/**
 * Labels the container that a command starts. Undefined if it is not certain to start one: another program, an unknown
 * option before `run`, or another subcommand.
 */
export function labelContainer(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  instance: string,
): LabelledContainer | undefined {
  if (!isContainerRuntime(command)) return undefined;
  const at = findSubcommand(args);
  const runAt = args[at] === 'container' ? at + 1 : at;
  if (args[runAt] !== 'run') return undefined;
  const label = `${LABEL}=${instance}`;
  // They choose the daemon, so all commands need them.
  const globals = args.slice(0, at);
  return {
    args: [...args.slice(0, runAt + 1), '--label', label, ...args.slice(runAt + 1)],
    listArgs: [...globals, 'ps', '-aq', '--filter', `label=${label}`],
    removeArgs: [...globals, 'rm', '-f'],
  };
}

function isContainerRuntime(command: string): boolean {
  return /^(?:.*[/\\])?(?:docker|podman|nerdctl)(?:\.exe)?$/i.test(command);
}

/** Index of the first argument that is neither a known global option nor its value. */
function findSubcommand(args: readonly string[]): number {
  let at = 0;
  for (;;) {
    const arg = args[at] ?? '';
    const [name = '', value] = arg.split('=', 2);
    if (FLAGS.has(name)) at += 1;
    else if (OPTIONS.has(name)) at += value === undefined ? 2 : 1;
    else return at;
  }
}

/** Global options of docker, podman and nerdctl without a value. */
const FLAGS: ReadonlySet<string> = new Set([
  ...['-D', '--debug', '--tls', '--tlsverify'],
  ...['-r', '--remote', '--syslog', '--noout'],
  ...['--debug-full', '--experimental', '--insecure-registry'],
]);

/** Those with a value. */
const OPTIONS: ReadonlySet<string> = new Set([
  ...[
    '--config',
    '-c',
    '--context',
    '-H',
    '--host',
    '-l',
    '--log-level',
    '--tlscacert',
    '--tlscert',
    '--tlskey',
  ],
  ...['--connection', '--url', '--identity', '--root', '--runroot', '--storage-driver', '--storage-opt'],
  ...['--cgroup-manager', '--events-backend', '--module', '-a', '--address', '-n', '--namespace'],
  ...['--cni-netconfpath', '--cni-path', '--data-root', '--snapshotter', '--hosts-dir'],
]);
