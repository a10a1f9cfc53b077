// Installs candidates, starts each in the sandbox without a network and without keys, and keeps those that list tools.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@assay-mcp/kit/digest';
import { runConcurrently } from '@assay-mcp/kit/run-concurrently';
import { createOpenSandbox } from '@assay-mcp/sandbox/open-sandbox';
import { SandboxedServer } from '../../packages/verify/src/experiment/sandboxed-server.ts';
import { prepareSeed } from '../../packages/verify/src/seed.ts';
import { type InstalledServer, installServer } from './install.ts';
import { readRecords, type StudyRecord, writeRecord } from './record.ts';
import { SERVERS } from './servers.ts';

interface Candidate {
  readonly package: string;
  readonly version: string;
  readonly main?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly fixtures?: string;
}

const CANDIDATES = join(import.meta.dirname, 'candidates.tsv');
/** Candidates that were not kept, with the reason: a later screening does not try them again. */
const LEFT_OUT = join(import.meta.dirname, 'left-out.tsv');
const START_LIMIT_MS = 15_000;
/** A server that has not listed its tools by then does not try to start in another way. */
const SLOW_MS = 10_000;
const MAX_TOOLS = 150;

/** Screens candidates in their order until there are `wanted` servers. */
export async function screen(wanted: number, parallel: number): Promise<void> {
  const leftOut = existsSync(LEFT_OUT) ? readFileSync(LEFT_OUT, 'utf8') : '';
  const done = new Set([
    ...readRecords().map((record) => record.package),
    ...leftOut.split('\n').map((line) => line.split('\t')[0] ?? ''),
  ]);
  const candidates = readCandidates().filter((one) => !done.has(one.package));
  let kept = readRecords().length;
  await runConcurrently(candidates, parallel, async (candidate) => {
    if (kept >= wanted) return;
    const outcome = await screenOne(candidate);
    if (typeof outcome === 'string')
      appendFileSync(LEFT_OUT, `${candidate.package}\t${candidate.version}\t${outcome}\n`);
    else {
      writeRecord(outcome);
      kept += 1;
    }
    console.error(
      `${kept} ${candidate.package}: ${typeof outcome === 'string' ? outcome : `${outcome.tools} tools`}`,
    );
  });
}

/** The servers of the first study, then those of the list. */
function readCandidates(): readonly Candidate[] {
  const listed = readFileSync(CANDIDATES, 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', version = ''] = line.split('\t');
      return { package: name, version };
    });
  const known = SERVERS.map(({ name, package: packageName, version, main, args, env }) => ({
    ...{ package: packageName, version, main, fixtures: name },
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
  }));
  return [...known, ...listed.filter((one) => !known.some((other) => other.package === one.package))];
}

async function screenOne(candidate: Candidate): Promise<StudyRecord | string> {
  const { package: name, version, main, args, env = {}, fixtures } = candidate;
  const installed = await installServer(name, version, main);
  if (!installed.ok) return installed.error;
  try {
    // A server of files wants a folder.
    for (const tried of args === undefined ? [[], ['{seed}']] : [args]) {
      const startedAtMs = performance.now();
      const started = await start(installed.value, tried, env);
      if (started === undefined && performance.now() - startedAtMs > SLOW_MS) break;
      if (started === undefined) continue;
      if (started.tools === 0 || started.tools > MAX_TOOLS)
        return started.tools === 0 ? 'no_tools' : 'many_tools';
      const { program, integrity, installation } = installed.value;
      return {
        ...{ package: name, version, integrity, installation },
        main: program.slice(join('node_modules', name).length + 1),
        args: tried,
        ...(Object.keys(env).length > 0 && { env }),
        ...(fixtures !== undefined && { fixtures }),
        ...started,
        screenedOn: new Date().toISOString().slice(0, 10),
      };
    }
    return 'not_started';
  } finally {
    await installed.value.remove();
  }
}

type Started = Pick<StudyRecord, 'definitions' | 'tools' | 'mechanisms'>;

async function start(
  { folder, program }: InstalledServer,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Started | undefined> {
  const seedPath = join(tmpdir(), 'assay-verify');
  const seed = await prepareSeed(undefined);
  const withSeed = (text: string): string => text.replaceAll('{seed}', seedPath);
  const command = { command: process.execPath, args: [program, ...args.map(withSeed)] };
  try {
    const opened = await SandboxedServer.open({
      openSandbox: createOpenSandbox(),
      sandbox: { program: command, cwd: folder, roots: [{ path: seedPath, from: seed.folder }] },
      server: {
        ...{ ...command, cwd: folder },
        env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, withSeed(value)])),
      },
      startLimitMs: START_LIMIT_MS,
      signal: AbortSignal.timeout(START_LIMIT_MS),
    });
    if (!opened.ok) return undefined;
    const { tools, sandbox } = opened.value;
    await opened.value.close();
    return { definitions: digestDefinitions(tools), tools: tools.length, mechanisms: sandbox.mechanisms };
  } catch {
    return undefined;
  } finally {
    await seed.remove();
  }
}

/** Digest of a whole list of tools, whatever its order. */
export function digestDefinitions(
  tools: readonly { readonly name: string; readonly digest: string }[],
): string {
  return sha256(
    tools
      .map(({ name, digest }) => `${JSON.stringify(name)} ${digest}`)
      .sort()
      .join('\n'),
  );
}
