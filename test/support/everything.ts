import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { cleanEnv, freePort, watch } from './assay.ts';
import { endLater, until } from './endings.ts';
import { ROOT } from './paths.ts';

const SCRIPT = join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

/** Starts the official example server over HTTP; returns its port. */
export async function startEverything(transport: 'streamableHttp' | 'sse'): Promise<number> {
  const port = await freePort();
  const child = spawn(process.execPath, [SCRIPT, transport], {
    env: cleanEnv({ PORT: String(port) }),
    stdio: 'pipe',
  });
  const watched = watch(child);
  endLater(async () => {
    await watched.stop();
  });
  await until(
    () => `it listens; it said ${watched.stderr()}${watched.stdout()}`,
    () => (`${watched.stderr()}${watched.stdout()}`.includes(String(port)) ? true : undefined),
    20_000,
  );
  return port;
}
