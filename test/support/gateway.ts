import type { openServe, runStdio } from '../../src/app/program.ts';
import { sentenceOf } from '../../src/core/sentences.ts';
import { cleanEnv, settle, startAssay, type AssayOptions, type Gateway } from './assay.ts';
import { endLater, sleep } from './endings.ts';
import { send } from './http.ts';
import { IS_OTHER_BUILD, PROGRAM, tempDir, writeConfig } from './place.ts';

interface Program {
  readonly openServe: typeof openServe;
  readonly runStdio: typeof runStdio;
}

export interface GatewayOptions extends Omit<AssayOptions, 'args' | 'place'> {
  readonly host?: string;
}

/**
 * The gateway that `assay serve` runs, in the process of the test: a quarter of the processor time of the program. What only
 * a process shows (its exit, signals, stdout, memory, and who shares a home with it) needs `startAssay`.
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
    writeLog: (line) => (stderr += line),
  });
  if (!opened.ok) throw new Error(`The gateway did not start: ${sentenceOf(opened.error)}\n${stderr}`);
  const { url, close } = opened.value;
  // What a test has left under way is not waited for.
  endLater(() => Promise.race([close(), sleep(3_000)]));
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

/** The built program, loaded once by each process. */
export async function program(): Promise<Program> {
  return (await import(PROGRAM)) as Program;
}
