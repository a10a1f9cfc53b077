import { PassThrough } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { StdioOptions } from '../../src/core/command-options.ts';
import { cleanEnv, type AssayOptions } from './assay.ts';
import { endLater, sleep } from './endings.ts';
import { program } from './gateway.ts';
import { tempDir, writeConfig } from './place.ts';
import { speakLines, type LinePeer } from './stdio.ts';

export interface StdioGatewayOptions
  extends Omit<AssayOptions, 'args' | 'place'>, Pick<StdioOptions, 'toolset' | 'attach'> {
  /** All tools of all servers, which is what most tests look at. */
  readonly all?: boolean;
}

/** What a client has of it. */
export interface StdioGateway {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly home: string;
  /** Its log. */
  readonly stderr: () => string;
  /** Resolves when it has answered all and left its streams. */
  readonly ended: Promise<unknown>;
  /** As SIGTERM does. */
  readonly stop: () => Promise<unknown>;
}

/**
 * What `assay stdio` speaks with its client, in the process of the test. What only a process shows (its exit, its stdout, how
 * it starts) needs `spawnStdio`.
 */
export function startStdio(options: StdioGatewayOptions): StdioGateway {
  const { home = tempDir(), servers = {}, settings, env, all, toolset, attach } = options;
  const [input, output, stopping] = [new PassThrough(), new PassThrough(), new AbortController()];
  let stderr = '';
  const run = async (): Promise<void> => {
    const { runStdio } = await program();
    const given = {
      home,
      config: options.config ?? writeConfig(servers, settings),
      environment: cleanEnv(env),
      writeLog: (line: string) => void (stderr += line),
      ...(all === true && { all }),
      ...(toolset !== undefined && { toolset }),
      ...(attach === true && { attach }),
    };
    const done = await runStdio(given, { input, output, stopping: stopping.signal });
    if (!done.ok) stderr += JSON.stringify(done.error);
    output.end();
  };
  const ended = run();
  const stop = (): Promise<unknown> => {
    stopping.abort();
    return ended;
  };
  endLater(async () => {
    await Promise.race([stop(), sleep(3_000)]);
  });
  return { input, output, home, stderr: () => stderr, ended, stop };
}

/** The same as a peer in lines, with all tools of all servers. */
export function openStdio(options: StdioGatewayOptions): LinePeer {
  const { input, output, stderr, ended, stop } = startStdio({ all: true, ...options });
  let stdout = '';
  output.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const peer = speakLines({
    stdout: () => stdout,
    stderr,
    write: (bytes) => void input.write(bytes),
    closeStdin: () => void input.end(),
    stopReading: () => void output.pause(),
  });
  return { ...peer, ended, stop };
}

/** The way of the official clients, of both major versions, to what `assay stdio` speaks. */
export class StdioGatewayTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #options: StdioGatewayOptions;
  #gateway: StdioGateway | undefined;

  constructor(options: StdioGatewayOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    this.#gateway = startStdio(this.#options);
    void this.#read(this.#gateway.output);
    return Promise.resolve();
  }

  async #read(output: PassThrough): Promise<void> {
    let rest = '';
    for await (const text of output.setEncoding('utf8')) {
      const lines = `${rest}${String(text)}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    }
    this.onclose?.();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#gateway?.input.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  /** The client closes its side, and waits until what it began is over. */
  async close(): Promise<void> {
    this.#gateway?.input.end();
    await this.#gateway?.ended;
  }
}
