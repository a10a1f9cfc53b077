import { execPath } from 'node:process';
import { createOpenSandbox } from '../src/open-sandbox.ts';
import type { Machine } from '../src/probe.ts';
import type { Observation, SandboxOptions } from '../src/observation.ts';

export interface Observed {
  readonly observation: Observation;
  readonly stdout: string;
  readonly stderr: string;
}

interface ObservedOptions {
  readonly command?: string;
  readonly env?: Record<string, string>;
  readonly machine?: Machine;
  readonly isScript?: boolean;
}

/** Runs code, or a script if `isScript`, in a sandbox to its end. By Node unless another command is named. */
export async function observed(
  cwd: string,
  code: string,
  {
    command = execPath,
    env = {},
    machine,
    isScript = false,
    ...options
  }: Partial<SandboxOptions> & ObservedOptions = {},
): Promise<Observed> {
  const args = isScript ? [code] : [command.endsWith('python3') || command === 'sh' ? '-c' : '-e', code];
  const opened = await createOpenSandbox(machine && (() => Promise.resolve(machine)))({
    cwd,
    program: { command, args },
    ...options,
  });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  const sandbox = opened.value;
  try {
    const child = sandbox.launch({ command, args, cwd, env });
    const output = { stdout: '', stderr: '' };
    child.onOutput((chunk) => (output.stdout += chunk.toString()));
    child.onErrorOutput((chunk) => (output.stderr += chunk.toString()));
    await child.ended;
    return { observation: await sandbox.observe(), ...output };
  } finally {
    await sandbox.close();
  }
}

/** Changes in the working folder, as `created a`. */
export function changesIn(cwd: string, { changes }: Observation): string[] {
  return changes
    .filter(({ path }) => path.startsWith(`${cwd}/`))
    .map(({ kind, path }) => `${kind} ${path.slice(cwd.length + 1)}`);
}
