import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';

/** Minimum time in ms between starts, whatever ended the process. */
const RESTART_MS = 1_000;

/**
 * Reads `+<group>` and `-<group>` until stdin ends, which happens when Assay ends in any way. Then it ends the
 * remaining groups as Assay would, but faster: their stdin has already closed, so SIGTERM, then SIGKILL. A group that
 * is gone is never signalled again, because its number may have been reused. A POSIX `sleep` may only accept whole
 * seconds.
 */
const SCRIPT = `trap '' INT TERM HUP QUIT
groups=' '
while read -r line; do
  group=\${line#?}
  case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
keep_living() {
  living=
  for group in $groups; do kill -0 -"$group" 2>/dev/null && living="$living $group"; done
  groups=$living
  [ -n "$groups" ] || exit 0
}
wait_for_end() {
  naps=$1
  while [ "$naps" -gt 0 ]; do
    keep_living
    sleep "$nap"
    naps=$((naps - 1))
  done
  keep_living
}
signal() { for group in $groups; do kill -"$1" -"$group" 2>/dev/null; done; }
keep_living
nap=0.1 second=10
sleep "$nap" 2>/dev/null || { nap=1 second=1; }
wait_for_end "$second"
signal TERM
wait_for_end $((2 * second))
signal KILL
`;

/**
 * The process groups that must not outlive Assay. A small shell in its own session ends them when Assay cannot: after
 * SIGKILL, out of memory, or a crash of Node. The shell exits right after Assay.
 */
export class Reaper {
  readonly #groups = new Set<number>();
  /** Undefined if the system has no shell, and so no reaper. */
  #shell: string | undefined;
  #process: ChildProcess | undefined;
  #starting: NodeJS.Timeout | undefined;
  #startedMs = -Infinity;

  constructor(shell: string | undefined) {
    this.#shell = shell;
  }

  get groups(): Iterable<number> {
    return this.#groups;
  }

  /** Process id of the reaper, once started. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  add(group: number): void {
    this.#groups.add(group);
    if (this.#process === undefined) this.#startSoon();
    else this.#send(`+${group}\n`);
  }

  remove(group: number): void {
    if (this.#groups.delete(group)) this.#send(`-${group}\n`);
  }

  /** Starts after the current work, so that no server waits for it. */
  #startSoon(): void {
    if (this.#shell === undefined || this.#starting !== undefined) return;
    const waitMs = Math.max(0, this.#startedMs + RESTART_MS - performance.now());
    this.#starting = setTimeout(() => this.#start(), waitMs).unref();
  }

  #start(): void {
    this.#starting = undefined;
    if (this.#shell === undefined || this.#groups.size === 0) return;
    this.#startedMs = performance.now();
    const started = startShell(this.#shell);
    if (started === undefined) {
      this.#startSoon();
      return;
    }
    this.#process = started;
    started.once('exit', () => this.#lost());
    started.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ENOENT') this.#shell = undefined;
      this.#lost();
    });
    started.unref();
    const { stdin } = started;
    // Its exit is handled elsewhere.
    stdin?.on('error', () => undefined);
    if (stdin instanceof Socket) stdin.unref();
    this.#send([...this.#groups].map((group) => `+${group}\n`).join(''));
  }

  #lost(): void {
    this.#process = undefined;
    if (this.#groups.size > 0) this.#startSoon();
  }

  #send(lines: string): void {
    const stdin = this.#process?.stdin;
    if (stdin?.writable === true) stdin.write(lines);
  }
}

/** Undefined if the system refuses. Its arguments must not contain "assay", or `pkill -9 -f assay` kills both. */
function startShell(shell: string): ChildProcess | undefined {
  try {
    return spawn(shell, ['-c', SCRIPT, 'reaper'], {
      cwd: '/',
      env: { PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
  } catch {
    return undefined;
  }
}
