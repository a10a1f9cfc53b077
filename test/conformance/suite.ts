import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brokenScenario, readChecks, type Check } from './checks.ts';
import type { RequirementSet } from './plan.ts';
import { ROOT, type Ended, type Programs } from './programs.ts';
import { openSlots, SLOTS_PORT } from './slots.ts';

const CLI = join(packageFolder(), 'dist', 'index.js');
const CLIENT = join(ROOT, 'test', 'conformance', 'client.ts');

/** Longest time in ms of one scenario. The suite starts all client scenarios at once, and most of them wait. */
const SERVER_LIMIT_MS = 10_000;
const CLIENT_LIMIT_MS = 120_000;
const CLIENTS_AT_A_TIME = 3;

export interface SuiteRun {
  readonly programs: Programs;
  readonly set: RequirementSet;
  /** An empty folder for the suite's output. */
  readonly folder: string;
  /** Undefined: all scenarios of the set. */
  readonly scenario?: string | undefined;
}

/** Runs the server scenarios against a URL. */
export function testServer(url: string, run: SuiteRun): Promise<readonly Check[]> {
  return runSuite('server', ['--url', url, '--timeout', String(SERVER_LIMIT_MS)], run);
}

/** Runs the client scenarios, each with a process of `client.ts`. */
export async function testClient(run: SuiteRun): Promise<readonly Check[]> {
  // The suite hands the command to a shell.
  const command = [process.execPath, CLIENT].map((word) => `"${word}"`).join(' ');
  const slots = await openSlots(CLIENTS_AT_A_TIME);
  try {
    return await runSuite('client', ['--command', command, '--timeout', String(CLIENT_LIMIT_MS)], {
      ...run,
      // Assay's homes are deleted with the folder, even if a client is killed.
      env: { [SLOTS_PORT]: String(slots.port), TMPDIR: run.folder },
    });
  } finally {
    slots.close();
  }
}

async function runSuite(
  role: 'server' | 'client',
  args: readonly string[],
  { programs, set, folder, scenario, env }: SuiteRun & { readonly env?: Readonly<Record<string, string>> },
): Promise<readonly Check[]> {
  const selection =
    scenario === undefined ? set.args : ['--scenario', scenario, '--spec-version', set.name, '--force'];
  const ended = await programs.run([CLI, role, ...args, ...selection, '--output-dir', folder], env);
  const prefix = role === 'server' ? 'server-' : '';
  const checks = globSync('**/*-[0-9][0-9][0-9]Z', { cwd: folder }).flatMap((name) =>
    checksIn(join(folder, name), scenarioOf(name, prefix), ended),
  );
  if (checks.length === 0)
    throw new Error(`The suite checked nothing, and ended with ${String(ended.code)}:\n${ended.stderr}`);
  return checks;
}

/** A folder is named after its scenario, which may contain a slash, and the time. */
function scenarioOf(folder: string, prefix: string): string {
  return folder
    .replaceAll('\\', '/')
    .replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
    .slice(prefix.length);
}

function checksIn(path: string, scenario: string, { stdout, stderr }: Ended): readonly Check[] {
  const written = join(path, 'checks.json');
  if (existsSync(written)) return readChecks(scenario, readFileSync(written, 'utf8'));
  const about = `${stdout}\n${stderr}`.split('\n').findLast((line) => line.includes(scenario));
  return [brokenScenario(scenario, about ?? 'It wrote no checks.')];
}

function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'));
}
