import { Console } from 'node:console';

/** From here on whatever writes to the console, a library of ours too, writes to stderr: stdout carries JSON-RPC alone. */
export function consoleToStderr(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
}
