import type { openServe, runStdio } from '../../packages/gateway/src/app/program.ts';
import { formatRefusal } from '../../packages/gateway/src/core/sentences.ts';
import { cleanEnv, settle, startAssay, type AssayOptions, type Gateway } from './assay.ts';
import { endLater, sleep } from './endings.ts';
import { send } from './http.ts';
import { IS_OTHER_BUILD, PROGRAM, tempDir, writeConfig } from './paths.ts';

interface Program {
  readonly openServe: typeof openServe;
  readonly runStdio: typeof runStdio;
}

export interface GatewayOptions extends Omit<AssayOptions, 'args' | 'place'> {
  readonly host?: string;
}

/**
 * The gateway of `assay serve`, run in the test's process: a quarter of the program's processor time. Behavior that
 * only a process shows (exit, signals, stdout, memory, sharing a home folder) needs `startAssay`.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { host = '127.0.0.1', home = tempDir() } = options;
  if (IS_OTHER_BUILD) return startAssay({ ...options, args: ['--host', host] });
  let stderr = '';
  const opened = await (
    await program()
  ).openServe({
    host,
    port: 0,
    home,
    config: options.config ?? writeConfig(options.servers ?? {}, options.settings),
    environment: cleanEnv(options.env),
    ...(options.limits && { limits: options.limits }),
    writeLog: (line) => (stderr += line),
  });
  if (!opened.ok) throw new Error(`The gateway did not start: ${formatRefusal(opened.error)}\n${stderr}`);
  const { url, close } = opened.value;
  // Requests that a test left running are not awaited.
  endLater(() => Promise.race([close(), sleep(15_000)]));
  const gateway: Gateway = {
    url: `${url}/mcp/all`,
    port: Number(new URL(url).port),
    home,
    stderr: () => stderr,
    health: async () => (await send(`${url}/health`, { method: 'GET' })).json(),
    settled: () => settle(gateway),
    stop: close,
  };
  return gateway;
}

/** The built program, loaded once per process. */
export async function program(): Promise<Program> {
  return (await import(PROGRAM)) as Program;
}
