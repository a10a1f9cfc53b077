import { join } from 'node:path';
import { toConfigEnvironment, locateConfig } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { findServe, type RunningServe, SERVE_FILE } from '../adapters/store/running-serve.ts';
import type { AppOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { VERSION } from '@assay-mcp/kit/version';
import type { CodedProblem } from '../api/problem.ts';
import type { Api, ApiRequest, Tagged } from '../edges/cli/api.ts';
import { toProblem } from '../edges/rest/failure.ts';
import { findUnsafePath } from '@assay-mcp/kit/platform/path-safety';
import { exitOnStop } from '@assay-mcp/kit/platform/stop-signals';
import {
  sendOverSocket,
  type SocketAnswer,
  type SocketRequest,
} from '@assay-mcp/kit/platform/socket-request';
import type { ApiAnswer } from './answer-request.ts';
import type { LocalApi } from './local-api.ts';
import { isAboutConfig } from './route-groups.ts';

/**
 * The REST API for a command: of the running gateway of this home, over its socket, or answered by the same routes in
 * this process. Nothing is opened before the first request. `note` receives a line that says why a running gateway is not
 * used.
 */
export function openApi(options: AppOptions, note: (text: string) => void): Api {
  return createApi(new ApiClient(options, note));
}

/** The client's view of what answers requests. */
export function createApi(answering: Pick<LocalApi, 'send' | 'close'> & { readonly isLocal?: boolean }): Api {
  return {
    // What answers is of the same version, so the body has the documented form.
    send: async <T>(request: ApiRequest): Promise<Result<T, CodedProblem>> => {
      const done = await answering.send(request);
      return done.ok ? ok(done.value.body as T) : done;
    },
    read: async <T>(path: string): Promise<Result<Tagged<T>, CodedProblem>> => {
      const done = await answering.send({ method: 'GET', path });
      return done.ok ? ok({ value: done.value.body as T, etag: done.value.etag ?? '' }) : done;
    },
    stream: async (request, onText) => {
      const done = await answering.send(request, onText);
      return done.ok ? ok(undefined) : done;
    },
    isLocal: () => answering.isLocal === true,
    close: () => answering.close(),
  };
}

type OnText = (text: string) => Promise<void>;

class ApiClient {
  readonly #options: AppOptions;
  #serve: Promise<Result<RunningServe | undefined, Refusal>> | undefined;
  #local: Promise<LocalApi> | undefined;
  readonly #note: (text: string) => void;
  #isTold = false;

  constructor(options: AppOptions, note: (text: string) => void) {
    this.#options = options;
    this.#note = note;
  }

  async send(request: ApiRequest, onText?: OnText): Promise<Result<ApiAnswer, CodedProblem>> {
    const found = await (this.#serve ??= this.#find());
    if (!found.ok) return err(toProblem(found.error, request.path));
    const serve = found.value;
    const socket = serve && this.#local === undefined ? this.#findSocket(serve, request) : undefined;
    if (socket !== undefined) {
      const answered = await sendOverSocket(
        { socket, method: request.method, ...toMessage(request) },
        onText,
      );
      if (answered.kind === 'answered' || answered.isSent)
        return toResult(answered, request, onText !== undefined);
      // It has just ended, and nothing was sent.
    }
    return (await (this.#local ??= this.#openLocal(serve))).send(request, onText);
  }

  /** The running gateway of this home, if it answers. PATH_UNSAFE: other users could have planted one. */
  async #find(): Promise<Result<RunningServe | undefined, Refusal>> {
    const configEnvironment = toConfigEnvironment(this.#options);
    const home = locateHome(configEnvironment);
    const unsafe = findUnsafePath(home, configEnvironment);
    if (unsafe !== undefined) return err(unsafe);
    const serve = await findServe(join(home, SERVE_FILE));
    if (serve?.socket === undefined || (await isAnswering(serve.socket))) return ok(serve);
    this.#tell('it does not answer');
    return ok({ ...serve, socket: undefined });
  }

  /** Its socket, unless it is another version, or serves another config and the request depends on that. */
  #findSocket({ socket, version, configPath }: RunningServe, request: ApiRequest): string | undefined {
    const own = locateConfig({ flag: this.#options.config, ...toConfigEnvironment(this.#options) }).path;
    if (version !== VERSION) this.#tell(`it is of version ${version || 'unknown'}, not ${VERSION}`);
    else if (configPath === own || socket === undefined || !isAboutConfig(request)) return socket;
    else this.#tell(`it serves ${configPath}, not ${own}`);
    return undefined;
  }

  #tell(reason: string): void {
    if (!this.#isTold) this.#note(`note: the running gateway of this home is not used: ${reason}.`);
    this.#isTold = true;
  }

  /** A signal stops the started servers, then the program. */
  async #openLocal(serve: RunningServe | undefined): Promise<LocalApi> {
    const { openLocalApi } = await import('./local-api.ts');
    const local = openLocalApi(this.#options, serve);
    exitOnStop(() => local.close());
    return local;
  }

  get isLocal(): boolean {
    return this.#local !== undefined;
  }

  async close(): Promise<void> {
    await (await this.#local)?.close();
  }
}

/** Maximum time in ms for a gateway to answer at all. */
const PROBE_LIMIT_MS = 2_000;

/** A file left behind by a killed gateway may name a process id that has been reused. */
async function isAnswering(socket: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS);
  const answered = await sendOverSocket({ socket, method: 'GET', target: '/health', signal });
  return answered.kind === 'answered' && answered.status === 200;
}

function toMessage({
  path,
  query,
  body,
  ifMatch,
}: ApiRequest): Pick<SocketRequest, 'target' | 'body' | 'headers'> {
  const text = query === undefined ? '' : new URLSearchParams(query).toString();
  return {
    target: text === '' ? path : `${path}?${text}`,
    ...(body !== undefined && { body }),
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
  };
}

function toResult(
  answered: SocketAnswer,
  { path }: ApiRequest,
  isStreamed: boolean,
): Result<ApiAnswer, CodedProblem> {
  const isWhole =
    answered.kind === 'answered' && (answered.text !== '' || answered.status === 204 || isStreamed);
  if (!isWhole) return err(toProblem(ENDED, path));
  const body: unknown = answered.text === '' ? undefined : JSON.parse(answered.text);
  // Of the same version.
  return answered.status < 400 ? ok({ body, etag: answered.etag }) : err(body as CodedProblem);
}

const ENDED: Refusal = {
  code: 'SERVER_ENDED',
  server: 'assay serve',
  cause: { code: 'RESPONSE_INCOMPLETE' },
};
