import { spawn } from 'node:child_process';
import { watch, cleanEnv, stopSoon, type AssayOptions } from './assay.ts';
import { endLater, until } from './endings.ts';
import { at, parseJson, type Json, type JsonObject } from './json.ts';
import { initializeOf, textOf } from './legacy.ts';
import { MAIN, tempDir, writeConfig } from './paths.ts';

/** A peer that speaks newline-delimited JSON-RPC, with access to the raw lines. */
export interface LinePeer {
  /** All lines so far, unchanged. */
  lines(): readonly string[];
  stderr(): string;
  write(bytes: string | Buffer): void;
  send(message: JsonObject): void;
  /** Waits for a matching line, parsed. */
  next(what: string, fits: (message: Json) => boolean, limitMs?: number): Promise<Json>;
  ask(method: string, params?: JsonObject): Promise<Json>;
  call(name: string, args?: JsonObject): Promise<string>;
  initialize(version?: string): Promise<Json>;
  closeStdin(): void;
  /** Stops reading its output. */
  stopReading(): void;
  readonly ended: Promise<unknown>;
  /** Same effect as SIGTERM. */
  stop(): Promise<unknown>;
}

/** A running program. */
export interface Pipe extends LinePeer {
  readonly pid: number;
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

/** The streams of a peer, and its output so far. */
export interface LineStreams extends Pick<LinePeer, 'stderr' | 'closeStdin' | 'stopReading'> {
  stdout(): string;
  write(bytes: string | Buffer): void;
}

/** Starts `assay stdio` as a client would. `openStdio` is cheaper. */
export function spawnStdio(options: AssayOptions): Pipe {
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
  const streams: LineStreams = {
    stdout: watched.stdout,
    stderr: watched.stderr,
    write: (bytes) => {
      child.stdin.write(bytes);
    },
    closeStdin: () => {
      child.stdin.end();
    },
    stopReading: () => {
      child.stdout.pause();
    },
  };
  const { ended, stop } = watched;
  return { ...speakLines(streams), pid: child.pid ?? 0, ended, stop };
}

export function speakLines(streams: LineStreams): Omit<LinePeer, 'ended' | 'stop'> {
  let lastId = 1000;
  const lines = (): readonly string[] => streams.stdout().split('\n').slice(0, -1);
  const peer: Omit<LinePeer, 'ended' | 'stop'> = {
    lines,
    stderr: () => streams.stderr(),
    write: (bytes) => streams.write(bytes),
    send: (message) => streams.write(`${JSON.stringify(message)}\n`),
    next: (what, fits, limitMs) => {
      let seen = 0;
      return until(
        () => `${what}; stderr: ${streams.stderr().slice(-2000)}`,
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
      peer.send({ jsonrpc: '2.0', id, method, params });
      return peer.next(`the answer to ${method}`, (message) => at(message, 'id') === id);
    },
    call: async (name, args = {}) => textOf(await peer.ask('tools/call', { name, arguments: args })),
    initialize: async (version = '2025-11-25') => {
      peer.write(`${initializeOf(version, {}, 'init')}\n`);
      const answer = await peer.next('the answer to initialize', (message) => at(message, 'id') === 'init');
      peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
    closeStdin: () => streams.closeStdin(),
    stopReading: () => streams.stopReading(),
  };
  return peer;
}
