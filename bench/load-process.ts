// Holds the load process and gives it one job at a time.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { CallsJob, CallsOutcome, FromLoad, PagesJob, PagesOutcome } from './load-jobs.ts';

export class LoadProcess {
  readonly #child: ChildProcess;

  constructor() {
    const file = new URL('load.ts', import.meta.url);
    // Detached from the terminal's process group: an interrupt reaches only the bench, which stops the rest in order.
    this.#child = fork(file, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  }

  /** Runs the calls; `whenWarm` is called and awaited just before the measured part. */
  async call(job: CallsJob, whenWarm: () => unknown): Promise<CallsOutcome> {
    this.#child.send({ kind: 'job', job });
    for (;;) {
      const said = await this.#hear();
      if (said.kind === 'calls-done') return said.outcome;
      if (said.kind !== 'warm') throw new Error(reasonOf(said));
      await whenWarm();
      this.#child.send({ kind: 'go' });
    }
  }

  async listPages(job: PagesJob): Promise<PagesOutcome> {
    this.#child.send({ kind: 'job', job });
    const said = await this.#hear();
    if (said.kind !== 'pages-done') throw new Error(reasonOf(said));
    return said.outcome;
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  async #hear(): Promise<FromLoad> {
    const listening = new AbortController();
    const { signal } = listening;
    try {
      const exit = once(this.#child, 'exit', { signal }).then(() => {
        throw new Error('the load generator ended');
      });
      const [said] = (await Promise.race([once(this.#child, 'message', { signal }), exit])) as [FromLoad];
      // The losing wait is about to be aborted, and its rejection would be unhandled.
      exit.catch(() => undefined);
      return said;
    } finally {
      listening.abort();
    }
  }
}

function reasonOf(said: FromLoad): string {
  return said.kind === 'failed' ? said.reason : `the load generator said "${said.kind}" out of turn`;
}
