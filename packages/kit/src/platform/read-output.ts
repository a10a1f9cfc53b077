import { execFile } from 'node:child_process';

interface ReadOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const LIMIT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** What a program writes to stdout, without white space around it. Undefined if it fails, or takes longer than 10 s. */
export function readOutput(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: ReadOptions,
): Promise<string | undefined> {
  const options = { cwd, env: { ...env }, timeout: LIMIT_MS, maxBuffer: MAX_BYTES };
  // Not promisified: the build replaces the function by one that loads it, without what `promisify` looks for.
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout) => resolve(error === null ? stdout.trim() : undefined));
  });
}
