// One gateway process of several. It is started again when it ends, as a service manager does.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { signalGroup } from '../../processes.ts';
import type { Processes } from '../../processes.ts';
import { ROOT } from '../../targets.ts';
import { seek } from '../soak-context.ts';

const READY_WITHIN_MS = 90_000;
const END_WITHIN_MS = 30_000;
const START_AGAIN_MS = 1_000;
const MAX_STDERR = 4_000;

export interface ReplicaPlace {
  readonly processes: Processes;
  readonly scratch: string;
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called with the reason when it ends on its own. */
  readonly onEndedAlone: (reason: string) => void;
}

export class Replica {
  readonly name: string;
  readonly port: number;
  /** The program; it may be changed between two starts. */
  main: string;
  readonly #place: ReplicaPlace;
  #child: ChildProcessWithoutNullStreams | undefined;
  #exit: Promise<unknown> = Promise.resolve();
  #isWanted = false;
  #starts = 0;

  constructor(
    name: string,
    { port, main }: { readonly port: number; readonly main: string },
    place: ReplicaPlace,
  ) {
    this.name = name;
    this.port = port;
    this.main = main;
    this.#place = place;
    mkdirSync(this.#home, { recursive: true });
  }

  get #home(): string {
    return join(this.#place.scratch, this.name);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get starts(): number {
    return this.#starts;
  }

  start(): void {
    const { processes, config, env, onEndedAlone } = this.#place;
    this.#isWanted = true;
    this.#starts += 1;
    const args = ['serve', '--config', config, '--port', String(this.port), '--home', this.#home];
    // The flag saves the program from starting itself again.
    const child = processes.spawn(['--max-semi-space-size=16', this.main, ...args], { cwd: ROOT, env });
    let stderr = '';
    child.stdout.resume();
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (stderr = (stderr + text).slice(-MAX_STDERR)));
    this.#child = child;
    this.#exit = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve(undefined);
        if (!this.#isWanted || this.#child !== child) return;
        onEndedAlone(`${this.name} ended with ${signal ?? String(code)}: ${stderr.trim().slice(-600)}`);
        void sleep(START_AGAIN_MS).then(() => {
          if (this.#isWanted && this.#child === child) this.start();
        });
      });
    });
  }

  /** Whether it was ready in time. */
  async untilReady(): Promise<boolean> {
    const isReady = await seek(READY_WITHIN_MS, async () => ((await this.#answers()) ? true : undefined));
    return isReady === true;
  }

  async kill(): Promise<void> {
    await this.#stop('SIGKILL');
  }

  /** Ends it as an upgrade does; whether it ended by itself in time. */
  async terminate(): Promise<boolean> {
    const patience = new AbortController();
    const ended = this.#stop('SIGTERM').then(() => true);
    const late = sleep(END_WITHIN_MS, false, { signal: patience.signal }).catch(() => false);
    const isEnded = await Promise.race([ended, late]);
    patience.abort();
    if (!isEnded) await this.kill();
    return isEnded;
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    if (this.#child === undefined) return;
    // Only the gateway: its servers must end by themselves.
    if (signal === 'SIGTERM') this.#child.kill(signal);
    else signalGroup(this.#child, signal);
    await this.#exit;
  }

  async #answers(): Promise<boolean> {
    try {
      const { statusCode, body } = await request(`http://127.0.0.1:${String(this.port)}/health`, {
        reset: true,
      });
      await body.dump();
      return statusCode === 200;
    } catch {
      return false;
    }
  }
}
