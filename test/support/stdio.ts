import { spawn } from 'node:child_process';
import { watch, cleanEnv, stopSoon, type AssayOptions } from './assay.ts';
import { endLater, until } from './endings.ts';
import { at, parseJson, type Json, type JsonObject } from './json.ts';
import { initializeOf, textOf } from './legacy.ts';
import { MAIN, tempDir, writeConfig } from './place.ts';

/** A running program that speaks JSON-RPC in lines, with its raw lines in reach. */
export interface Pipe {
  readonly pid: number;
  /** Every line of stdout so far, as it came. */
  lines(): readonly string[];
  stderr(): string;
  write(bytes: string | Buffer): void;
  send(message: JsonObject): void;
  /** Waits for a line that fits, parsed. */
  next(what: string, fits: (message: Json) => boolean, limitMs?: number): Promise<Json>;
  ask(method: string, params?: JsonObject): Promise<Json>;
  call(name: string, args?: JsonObject): Promise<string>;
  initialize(version?: string): Promise<Json>;
  closeStdin(): void;
  /** From now on nobody takes what it writes to stdout. */
  stopReading(): void;
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

/** Starts `assay stdio` as a client would. */
export function openStdio(options: AssayOptions): Pipe {
  const config = options.config ?? writeConfig(options.servers ?? {}, options.settings);
  const home = options.home ?? tempDir();
  return openPipe(
    [MAIN, 'stdio', '--all', '--config', config, '--home', home, ...(options.args ?? [])],
    options.env,
    options.place,
  );
}

export function openPipe(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  place: AssayOptions['place'] = {},
): Pipe {
  const child = spawn(process.execPath, [...args], { ...place, env: cleanEnv(env), stdio: 'pipe' });
  const watched = watch(child);
  endLater(() => stopSoon(child, watched));
  let lastId = 1000;
  const lines = (): readonly string[] => watched.stdout().split('\n').slice(0, -1);
  const pipe: Pipe = {
    pid: child.pid ?? 0,
    lines,
    stderr: watched.stderr,
    write: (bytes) => {
      child.stdin.write(bytes);
    },
    send: (message) => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    next: (what, fits, limitMs) => {
      let seen = 0;
      return until(
        () => `${what}; stderr: ${watched.stderr().slice(-2000)}`,
        () => {
          const all = lines();
          const found = all
            .slice(seen)
            .map((line) => parseJson(line))
            .find(fits);
          seen = all.length;
          return found;
        },
        limitMs,
      );
    },
    ask: (method, params = {}) => {
      const id = ++lastId;
      pipe.send({ jsonrpc: '2.0', id, method, params });
      return pipe.next(`the answer to ${method}`, (message) => at(message, 'id') === id);
    },
    call: async (name, args = {}) => textOf(await pipe.ask('tools/call', { name, arguments: args })),
    initialize: async (version = '2025-11-25') => {
      pipe.write(`${initializeOf(version, {}, 'init')}\n`);
      const answer = await pipe.next('the answer to initialize', (message) => at(message, 'id') === 'init');
      pipe.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
    closeStdin: () => {
      child.stdin.end();
    },
    stopReading: () => {
      child.stdout.pause();
    },
    ended: watched.ended,
    stop: watched.stop,
  };
  return pipe;
}
