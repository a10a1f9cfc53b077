import { dirname } from 'node:path';
import { ensureFolder, readText, removeFile, writeAtomically } from '../../platform/files.ts';
import { isAlive } from '../../platform/stop-signals.ts';
import { atMost } from '../../platform/turns.ts';

/** The file in its home in which a running `serve` leaves word. */
export const SERVE_FILE = 'serve.json';

/** Where a running `assay serve` is reached by the processes of its user. */
export interface RunningServe {
  /** Origin and port. */
  readonly url: string;
  readonly pid: number;
  /** Lets processes that can read this file in, whether the MCP endpoints are open or not. */
  readonly token: string;
}

/** Leaves word in a file that only this user can read. The phrase tells why it could not be done. */
export async function announceServe(path: string, serve: RunningServe): Promise<string | undefined> {
  const folder = await ensureFolder(dirname(path));
  const written = folder.ok ? await writeAtomically(path, `${JSON.stringify(serve)}\n`, 0o600) : folder;
  return written.ok ? undefined : written.error.reason;
}

/** Takes the word back, unless another `serve` has left its own since. */
export async function withdrawServe(path: string, pid: number): Promise<void> {
  const serve = await readServe(path);
  if (serve?.pid === pid) await removeFile(path);
}

/** The `serve` that runs; undefined where none does, whatever an earlier one left behind. */
export async function findServe(path: string): Promise<RunningServe | undefined> {
  const serve = await readServe(path);
  return serve !== undefined && isAlive(serve.pid) ? serve : undefined;
}

/** How long in ms a `serve` may take to say that it is the one. */
const PROBE_LIMIT_MS = 2_000;

/**
 * Whether it still answers, and knows the token: what an earlier one left behind may name a process and an address that
 * others have got since. All of `/health` is shown only to who may read it.
 */
export async function isAnswering({ url, token }: RunningServe): Promise<boolean> {
  const { HttpClient } = await import('../../platform/http-client.ts');
  const client = new HttpClient(url);
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
  const isAnswered = (await atMost(answered, PROBE_LIMIT_MS)) ?? false;
  await client.close();
  return isAnswered;
}

async function readServe(path: string): Promise<RunningServe | undefined> {
  const text = await readText(path);
  if (!text.ok) return undefined;
  try {
    const { url, pid, token } = JSON.parse(text.value) as Readonly<Record<string, unknown>>;
    const isWhole =
      typeof url === 'string' && URL.canParse(url) && Number.isInteger(pid) && typeof token === 'string';
    return isWhole ? { url, pid: Number(pid), token } : undefined;
  } catch {
    return undefined;
  }
}
