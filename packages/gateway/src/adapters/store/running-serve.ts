import { dirname } from 'node:path';
import { ensureFolder, readText, removeFile, writeAtomically } from '@assay-mcp/kit/platform/files';
import { isAlive } from '@assay-mcp/kit/platform/stop-signals';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';

/** The file in which a running `serve` announces itself, in its home folder. */
export const SERVE_FILE = 'serve.json';

/** How other processes of the same user reach a running `assay serve`. */
export interface RunningServe {
  /** Origin and port. Empty if it listens at its socket only. */
  readonly url: string;
  readonly pid: number;
  /** The socket at which it admits the local operator without a token. Undefined if it could not be opened. */
  readonly socket: string | undefined;
  /**
   * Admits processes that can read this file, even if the MCP endpoints require authorization. It has the scopes `mcp`
   * and `read` only: attached clients send it, and a model could read this file.
   */
  readonly token: string;
  /** The version of Assay. Empty if it is too old to say. */
  readonly version: string;
  /** Absolute path of its config file. */
  readonly configPath: string;
}

/** Writes the file, readable only by this user. Returns a phrase for the reason if that fails. */
export async function announceServe(path: string, serve: RunningServe): Promise<string | undefined> {
  const folder = await ensureFolder(dirname(path));
  const written = folder.ok ? await writeAtomically(path, `${JSON.stringify(serve)}\n`, 0o600) : folder;
  return written.ok ? undefined : written.error.reason;
}

/** Removes the file, unless another `serve` has written its own since. */
export async function withdrawServe(path: string, pid: number): Promise<void> {
  const serve = await readServe(path);
  if (serve?.pid === pid) await removeFile(path);
}

/** The running `serve`. Undefined if none runs, even if an earlier one left its file behind. */
export async function findServe(path: string): Promise<RunningServe | undefined> {
  const serve = await readServe(path);
  return serve !== undefined && isAlive(serve.pid) ? serve : undefined;
}

/** The origin of requests at the socket of a gateway. */
export const LOCAL_ORIGIN = 'http://localhost';

/** Maximum time in ms for a `serve` to identify itself. */
const PROBE_LIMIT_MS = 2_000;

/**
 * Whether it still answers and knows the token: a stale file may name a process id and an address that have been
 * reused. The full `/health` response requires authorization.
 */
export async function isAnswering({ url, socket, token }: RunningServe): Promise<boolean> {
  const { HttpClient } = await import('@assay-mcp/kit/platform/http-client');
  const client = url === '' ? new HttpClient(LOCAL_ORIGIN, undefined, socket) : new HttpClient(url);
  const chunks: Buffer[] = [];
  const headers = ['authorization', `Bearer ${token}`];
  const answered = new Promise<boolean>((resolve) => {
    client.call(
      { method: 'GET', path: '/health', headers, body: undefined },
      {
        start: () => undefined,
        data: (chunk) => chunks.push(chunk),
        end: () => resolve(Buffer.concat(chunks).includes('"servers":[')),
        error: () => resolve(false),
      },
    );
  });
  const isAnswered = (await waitAtMost(answered, PROBE_LIMIT_MS)) ?? false;
  await client.close();
  return isAnswered;
}

async function readServe(path: string): Promise<RunningServe | undefined> {
  const text = await readText(path);
  if (!text.ok) return undefined;
  try {
    const { url, pid, socket, token, version, configPath } = JSON.parse(text.value) as Readonly<
      Record<string, unknown>
    >;
    const isUrl = typeof url === 'string' && (url === '' || URL.canParse(url));
    const isWhole = isUrl && Number.isInteger(pid) && typeof token === 'string';
    if (!isWhole) return undefined;
    return {
      url,
      pid: Number(pid),
      socket: typeof socket === 'string' ? socket : undefined,
      token,
      version: textOf(version),
      configPath: textOf(configPath),
    };
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
