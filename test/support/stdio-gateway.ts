import { PassThrough } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { StdioOptions } from '../../packages/gateway/src/core/command-options.ts';
import { cleanEnv, type AssayOptions } from './assay.ts';
import { endLater, sleep } from './endings.ts';
import { program } from './gateway.ts';
import { tempDir, writeConfig } from './paths.ts';
import { speakLines, type LinePeer } from './stdio.ts';

export interface StdioGatewayOptions
  extends Omit<AssayOptions, 'args' | 'place'>, Pick<StdioOptions, 'toolset' | 'search' | 'attach'> {
  /** Serve all tools of all servers, which most tests want. */
  readonly all?: boolean;
}

/** A gateway as its client sees it. */
export interface StdioGateway {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly home: string;
  /** Its log. */
  readonly stderr: () => string;
  /** Resolves when it has answered everything and released its streams. */
  readonly ended: Promise<unknown>;
  /** Same effect as SIGTERM. */
  readonly stop: () => Promise<unknown>;
}

/**
 * The server side of `assay stdio`, in the test's process. Behavior that only a process shows (exit, stdout, startup)
 * needs `spawnStdio`.
 */
export function startStdio(options: StdioGatewayOptions): StdioGateway {
  const { home = tempDir(), servers = {}, settings, env, all, toolset, search, attach } = options;
  const [input, output, stopping] = [new PassThrough(), new PassThrough(), new AbortController()];
  let stderr = '';
  const run = async (): Promise<void> => {
    const { runStdio } = await program();
    const given = {
      home,
      config: options.config ?? writeConfig(servers, settings),
      environment: cleanEnv(env),
      ...(options.limits && { limits: options.limits }),
      writeLog: (line: string) => void (stderr += line),
      ...(all === true && { all }),
      ...(toolset !== undefined && { toolset }),
      ...(search === true && { search }),
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

/** The same as a line peer, with all tools of all servers. */
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

/** Connects the official clients, of both major versions, to the server side of `assay stdio`. */
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

  /** Closes the client's side and waits until running requests are done. */
  async close(): Promise<void> {
    this.#gateway?.input.end();
    await this.#gateway?.ended;
  }
}
