import type { TracedCall, TracedEvent } from '../../verify/observation.ts';
import type { SystemCall } from './strace-lines.ts';

/** Calls that signal or change a process, and the index of its id. */
export const ON_PROCESS: Readonly<Record<string, number>> = {
  kill: 0,
  tkill: 0,
  tgkill: 0,
  rt_sigqueueinfo: 0,
  rt_tgsigqueueinfo: 0,
  pidfd_open: 0,
  setpriority: 1,
  ioprio_set: 1,
  sched_setscheduler: 0,
  sched_setparam: 0,
  sched_setattr: 0,
  sched_setaffinity: 0,
};

/** Calls on System V objects and POSIX message queues. */
export const ON_SHARED_MEMORY: readonly string[] = [
  ...['shmget', 'semget', 'msgget', 'mq_open', 'mq_unlink'],
  ...['shmat', 'shmctl', 'semop', 'semtimedop', 'semctl', 'msgsnd', 'msgrcv', 'msgctl'],
];

/** Errors for an object that does not exist in the sandbox, or belongs to others. */
const ABSENT: ReadonlySet<string> = new Set(['EINVAL', 'EIDRM', 'ESRCH', 'EPERM', 'EACCES']);
const INIT = 1;
const MAX_PROCESSES = 20_000;

/** Finds calls on processes and shared memory that are not the server's own. A sandbox hides those of other programs. */
export class ForeignTargets {
  /** Processes that were started in the sandbox, also those that have ended. */
  readonly #own = new Set<number>();

  read(call: SystemCall, common: TracedCall): TracedEvent | undefined {
    const { name, args, result } = call;
    if (/^(?:clone3?|v?fork)$/.test(name)) this.#started(Number.parseInt(result, 10));
    const index = ON_PROCESS[name];
    if (index !== undefined) return this.#onProcess(call, common, Number.parseInt(args[index] ?? '', 10));
    if (!ON_SHARED_MEMORY.includes(name)) return undefined;
    const target = args[0] ?? '';
    const isFound = /^(?:shmget|semget|msgget|mq_open|mq_unlink)$/.test(name)
      ? target !== 'IPC_PRIVATE'
      : ABSENT.has(common.error ?? '');
    return isFound ? { ...common, kind: 'shared_memory', name: `${name} ${target}` } : undefined;
  }

  #started(pid: number): void {
    if (pid > 0 && this.#own.size < MAX_PROCESSES) this.#own.add(pid);
  }

  /** Every process in the sandbox is the server's own, except the first one, which stands for the system's. */
  #onProcess({ name, args }: SystemCall, common: TracedCall, id: number): TracedEvent | undefined {
    // Signal 0 only asks whether there is such a process.
    if (Number.isNaN(id) || id === 0 || (name === 'kill' && args[1] === '0')) return undefined;
    const isAbsent = common.error === 'ESRCH' || common.error === 'EPERM';
    const isForeign = name === 'pidfd_open' ? isAbsent : isAbsent || id === INIT || id === -1;
    if (!isForeign || (this.#own.has(Math.abs(id)) && common.error === 'ESRCH')) return undefined;
    return { ...common, kind: 'signal', process: id };
  }
}
