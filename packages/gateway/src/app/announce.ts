import { join } from 'node:path';
import {
  announceServe,
  findServe,
  type RunningServe,
  SERVE_FILE,
  withdrawServe,
} from '../adapters/store/running-serve.ts';
import type { MintedToken } from '../core/token.ts';
import { VERSION } from '@assay-mcp/kit/version';
import type { Environment } from './environment.ts';

const ANNOUNCE_INTERVAL_MS = 5_000;

/** Publishes the address for other commands of this user until this process stops. */
export async function announce(
  { home, log, cleanup }: Environment,
  address: Pick<RunningServe, 'url' | 'socket' | 'configPath'>,
  { text: token }: MintedToken,
): Promise<void> {
  const { pid } = process;
  const path = join(home, SERVE_FILE);
  const announced: RunningServe = { ...address, pid, token, version: VERSION };
  const cause = await announceServe(path, announced);
  if (cause !== undefined) log.warn('other commands of Assay will not find this process', { path, cause });
  // Another `serve` of this home removes its own entry when it stops; then announce this one.
  const again = setInterval(() => {
    void findServe(path).then((found) => (found === undefined ? announceServe(path, announced) : undefined));
  }, ANNOUNCE_INTERVAL_MS).unref();
  cleanup.defer(() => {
    clearInterval(again);
    return withdrawServe(path, pid);
  });
}
