import { randomUUID } from 'node:crypto';
import type { Child, ChildOptions, ProcessEnd } from '@assay-mcp/kit/platform/child';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import type { Command } from '@assay-mcp/sandbox/rights';
import { getStopTimeoutMs, labelContainer, type LabelledContainer } from '../../core/containers.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Log } from '../../gateway/ports/log.ts';

/** Time in ms for the container runtime to list containers, and to remove them. */
const RUNTIME_LIMIT_MS = 5_000;
/** More containers of one start are not removed. */
const MAX_CONTAINERS = 16;
const MAX_LIST_BYTES = 4_096;

export interface LaunchDeps {
  readonly launcher: Launcher;
  /** Undefined: nothing is logged. */
  readonly log?: Log | undefined;
  readonly runtimeLimitMs?: number | undefined;
}

/** How a server's process is stopped. */
export function toStopOptions(spec: ServerSpec): Pick<ChildOptions, 'graceMs'> {
  const graceMs = getStopTimeoutMs(spec);
  return graceMs === undefined ? {} : { graceMs };
}

/**
 * Starts a server's process. A container that it starts gets a random label; if the process does not end in order, the
 * containers with that label are removed, because the end of the runtime's client does not end them.
 */
export function launchServer(spec: ServerSpec, command: Command, deps: LaunchDeps): Child {
  const container = labelContainer(command, randomUUID());
  if (container === undefined) return deps.launcher.launch({ ...command, ...toStopOptions(spec) });
  return deps.launcher.launch({
    ...command,
    ...toStopOptions(spec),
    args: container.args,
    cleanUp: async (end, isOrderly) => {
      if (!isOrderly || isFailureOfRuntime(end)) await removeContainers({ spec, command, container }, deps);
    },
  });
}

/** `docker run` exits with 125 if it failed itself; the container may exist. */
function isFailureOfRuntime(end: ProcessEnd): boolean {
  return end.code === 'PROCESS_EXITED' && end.exitCode === 125;
}

interface Leftover {
  readonly spec: ServerSpec;
  readonly command: Command;
  readonly container: LabelledContainer;
}

async function removeContainers({ spec, command, container }: Leftover, deps: LaunchDeps): Promise<void> {
  const { listArgs, removeArgs } = container;
  const listed = await run({ ...command, args: listArgs }, deps);
  const ids = listed?.split(/\s+/).filter((id) => CONTAINER_ID.test(id)) ?? [];
  if (ids.length === 0) return;
  const removed = await run({ ...command, args: [...removeArgs, ...ids.slice(0, MAX_CONTAINERS)] }, deps);
  const facts = { server: spec.name, containers: ids.map((id) => id.slice(0, 12)).join(' ') };
  if (removed === undefined)
    deps.log?.warn('a container outlived its server process and could not be removed', facts);
  else deps.log?.info('removed a container that outlived its server process', facts);
}

const CONTAINER_ID = /^[0-9a-f]{12,64}$/;

/** What the container runtime prints. Undefined if it fails or takes too long. */
async function run(
  command: Command,
  { launcher, runtimeLimitMs = RUNTIME_LIMIT_MS }: LaunchDeps,
): Promise<string | undefined> {
  const child = launcher.launch(command);
  let output = '';
  child.onOutput((chunk) => {
    if (output.length < MAX_LIST_BYTES) output += chunk.toString('latin1');
  });
  child.onErrorOutput(() => undefined);
  child.endInput();
  const ended = await waitAtMost(Promise.all([child.ended, child.outputRead]), runtimeLimitMs);
  if (ended === undefined) child.signal('SIGKILL');
  const end = await child.ended;
  return ended !== undefined && end.code === 'PROCESS_EXITED' && end.exitCode === 0 ? output : undefined;
}
