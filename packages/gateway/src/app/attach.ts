import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { delimiter, isAbsolute } from 'node:path';
import { duplexPair, type Duplex } from 'node:stream';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { listInheritedEnv } from '@assay-mcp/kit/platform/child';
import { readTextWithinNow } from '@assay-mcp/kit/platform/bounded-file';
import { ensureFolder } from '@assay-mcp/kit/platform/files';
import type { Peer } from '@assay-mcp/kit/platform/guarded';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { findUnsafePath } from '@assay-mcp/kit/platform/path-safety';
import { pause } from '@assay-mcp/kit/platform/pause';
import { readUntil } from '@assay-mcp/kit/platform/read-until';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { VERSION } from '@assay-mcp/kit/version';
import {
  ATTACH_PROTOCOL,
  ATTACH_TARGET,
  type AttachRequest,
  MAX_ATTACH_BYTES,
  parseAttachAnswer,
} from '../core/attach.ts';
import type { StdioOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import { runAttachPipe } from '../edges/mcp/attach-pipe.ts';
import { findGateway, type GatewayPlace } from './gateway-lock.ts';
import { isNewer } from './ending.ts';
import type { StdioStreams } from './stdio.ts';

export interface AttachOptions {
  /** The command that starts this program. Undefined: no gateway is started in the background. */
  readonly ownCommand: readonly string[] | undefined;
  /** Writes a line for the log of the client. */
  readonly note: (text: string) => void;
  /** Serves the client in this process. */
  readonly serveHere: (streams: StdioStreams) => Promise<Result<undefined, Refusal>>;
}

/** Time in ms in which a gateway must be ready. After that, the servers are started in this process. */
const READY_MS = 10_000;
/** The same for a client that was attached before: the last gateway may still answer requests and end its servers. */
const NEXT_READY_MS = 30_000;
const POLL_MS = 50;
/** Time in ms for the answer of a gateway that listens. */
const ANSWER_MS = 5_000;
/** Time in ms in which the gateway of a newer version takes the place of one that has ended for it. */
const SUCCESSOR_MS = 5_000;
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;
/** The largest message of a client; what the gateway accepts is its own setting. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/**
 * Connects a client on stdio with the gateway of the home, which is started in the background if none runs. Without one,
 * the servers are started in this process.
 */
export async function attach(
  given: StdioOptions,
  streams: Pick<StdioStreams, 'input' | 'output' | 'stopping'>,
  options: AttachOptions,
): Promise<Result<undefined, Refusal>> {
  const configEnvironment = toConfigEnvironment(given);
  const home = locateHome(configEnvironment);
  const unsafe = findUnsafePath(home, configEnvironment);
  if (unsafe !== undefined) return err(unsafe);
  const { path: configPath } = locateConfig({ flag: given.config, ...configEnvironment });
  const attaching = new Attaching({
    ...options,
    given,
    env: configEnvironment.env,
    place: { home, configPath },
  });
  let failure: Result<undefined, Refusal> | undefined;
  const open = async (again?: { readonly isRetired: boolean }): Promise<Result<Duplex, Refusal>> => {
    const connected = await attaching.connect(again);
    if (!connected.ok) return connected;
    if (connected.value !== undefined) return ok(connected.value);
    const [own, other] = duplexPair();
    void options.serveHere({ input: other, output: other, stopping: streams.stopping }).then((done) => {
      if (!done.ok) failure = done;
      if (done.ok) other.end();
      else own.destroy();
    });
    return ok(own);
  };
  const isFailed = (): boolean => failure !== undefined;
  const done = await runAttachPipe({ ...streams, maxBodyBytes: MAX_MESSAGE_BYTES, open, isFailed });
  return failure ?? done;
}

interface AttachingOptions extends AttachOptions {
  readonly given: StdioOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: GatewayPlace;
}

/** A gateway that was started in the background. */
interface StartedGateway {
  /** Set when it has failed or ended. */
  readonly fault: string | undefined;
}

class Attaching {
  readonly #options: AttachingOptions;
  readonly #variables: Readonly<Record<string, string | null>>;
  #isTold = false;
  #version = VERSION;

  constructor(options: AttachingOptions) {
    this.#options = options;
    this.#variables = readVariables(options);
  }

  /** Returns no connection if the servers must be started here: there is no gateway, or it cannot serve this client. */
  async connect(again?: { readonly isRetired: boolean }): Promise<Result<Duplex | undefined, Refusal>> {
    const { place, ownCommand, given, note } = this.#options;
    const until = performance.now() + (again === undefined ? READY_MS : NEXT_READY_MS);
    // The process that asked the last gateway to retire starts the next one; if it does not, this one does.
    const isSuccessorDue = again?.isRetired === true && !isNewer(VERSION, this.#version);
    const startMs = performance.now() + (isSuccessorDue ? SUCCESSOR_MS : 0);
    let reason = 'no gateway of this home is running';
    let child: StartedGateway | undefined;
    let silent: number | undefined;
    while (performance.now() < until) {
      const running = findGateway(place);
      if (running === undefined) {
        if (ownCommand === undefined || given.background === false) break;
        if (child?.fault !== undefined) {
          reason = `the gateway could not be started in the background (${child.fault})`;
          break;
        }
        if (performance.now() >= startMs) child ??= await this.#start(ownCommand);
      } else if (running.state === 'ready' && running.pid !== silent) {
        const attached = running.socket === undefined ? undefined : await this.#handshake(running.socket);
        if (attached !== undefined) return attached;
        reason = 'the gateway of this home does not answer';
        silent = running.pid;
        // One without a socket serves no clients.
        if (running.socket === undefined) break;
      }
      await pause(POLL_MS);
    }
    note(`${reason}, so the servers are started here`);
    return ok(undefined);
  }

  async #start([command = '', ...args]: readonly string[]): Promise<StartedGateway> {
    const { home, configPath } = this.#options.place;
    const folder = await ensureFolder(home);
    if (!folder.ok) return { fault: folder.error.reason };
    // The flag saves the program from starting itself again with it.
    const words = ['--max-semi-space-size=16', ...args, 'serve', '--on-demand'];
    const child = spawn(command, [...words, '--home', home, '--config', configPath], {
      cwd: home,
      detached: true,
      stdio: 'ignore',
      windowsHide: true,
      env: this.#buildEnvironment(),
    });
    const started: { fault: string | undefined } = { fault: undefined };
    child.once('error', (error: NodeJS.ErrnoException) => (started.fault = error.code ?? error.message));
    child.once('exit', (code) => (started.fault = `it has ended with exit code ${code ?? 'unknown'}`));
    child.unref();
    return started;
  }

  /** Harmless variables, and those that this client's config and settings need. */
  #buildEnvironment(): Record<string, string> {
    const env = listInheritedEnv(undefined, this.#options.env);
    for (const [name, value] of Object.entries(env))
      if (/^path$/i.test(name)) env[name] = removeProjectFolders(value, process.cwd());
    for (const [name, value] of Object.entries(this.#variables)) if (value !== null) env[name] = value;
    return env;
  }

  /** Undefined if nobody answers in time. */
  async #handshake(path: string): Promise<Result<Duplex | undefined, Refusal> | undefined> {
    const socket = connect(path);
    socket.on('error', () => socket.destroy());
    const peer: Peer = { name: 'gateway', end: () => void socket.destroy() };
    const read = (end: string): Promise<string | undefined> =>
      readUntil(socket, { end, maxBytes: MAX_ATTACH_BYTES, limitMs: ANSWER_MS, peer });
    socket.write(
      `GET ${ATTACH_TARGET} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${ATTACH_PROTOCOL}\r\n\r\n`,
    );
    const head = await read('\r\n\r\n');
    if (head?.startsWith('HTTP/1.1 101 ') !== true) {
      socket.destroy();
      return undefined;
    }
    const { all, search, toolset } = this.#options.given;
    const request: AttachRequest = {
      version: VERSION,
      cwd: process.cwd(),
      variables: this.#variables,
      view: { ...(all && { all }), ...(search && { search }), ...(toolset !== undefined && { toolset }) },
    };
    socket.write(`${JSON.stringify(request)}\n`);
    const line = await read('\n');
    const answer = line === undefined ? undefined : parseAttachAnswer(line);
    if (answer?.kind === 'attached') {
      this.#version = answer.version;
      if (!this.#isTold) for (const note of answer.notes) this.#options.note(note);
      this.#isTold = true;
      return ok(socket);
    }
    socket.destroy();
    if (answer?.kind === 'alone') {
      this.#options.note(`${answer.reason}, so its servers are started here`);
      return ok(undefined);
    }
    return answer && err({ code: 'ATTACH_REFUSED', reason: answer.message });
  }
}

/** The variables that the config names, null if unset, and Assay's own settings. */
function readVariables({
  env,
  place,
}: Pick<AttachingOptions, 'env' | 'place'>): Record<string, string | null> {
  const text = readTextWithinNow(place.configPath, MAX_CONFIG_BYTES);
  const own = Object.keys(env).filter((name) => /^(?:ASSAY|HYPERTOOL)_/.test(name));
  const named = text.ok
    ? [...text.value.matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)/g)].map(([, name = '']) => name)
    : [];
  return Object.fromEntries([...new Set([...own, ...named])].map((name) => [name, env[name] ?? null]));
}

/** PATH without the folders of the client's project: every later client's servers are started with it. */
function removeProjectFolders(path: string, cwd: string): string {
  const isOwn = (folder: string): boolean =>
    !isAbsolute(folder) || isInside(folder, cwd) || /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder);
  return path
    .split(delimiter)
    .filter((folder) => !isOwn(folder))
    .join(delimiter);
}
