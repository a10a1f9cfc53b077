// `npm run reach`: how many tools of published servers the verifier calls without a fixtures file, how long that takes,
// and what it finds. Servers for tuning and held-out servers are reported apart.
import { computeCoverage, listContradictions } from '@assay-mcp/kit/verification/report';
import { openVerifier } from '../../src/verifier.ts';
import { findProgram, locateFolder } from './installed.ts';
import { findServer, parseOptions, runApart } from './run-apart.ts';
import { type Part, REACH_SERVERS, splitServers, type ReachServer } from './servers.ts';

const HELP = `npm run reach -- [NAME...] [--part tuning|held-out] [--list] [--tools]

Installs servers of packages/verify/test/reach/servers.ts from npm into .study/reach/, without running scripts of
packages, and verifies them without a fixtures file.

  NAME     only these servers, by package
  --part   only this half of the servers
  --list   prints which half each server belongs to, and runs nothing
  --tools  also prints why each tool was not called
`;

const LIMITS = { timeMs: 600_000, callMs: 10_000, sets: 3, repeats: 5 };
/** A server may be slow; the verifier's own time limit comes first. */
const PROCESS_LIMIT_MS = 900_000;

/** What one server's run yields. */
interface Measured {
  readonly tools: number;
  readonly called: number;
  readonly calls: number;
  readonly contradicted: readonly string[];
  readonly uncalled: readonly { readonly name: string; readonly failure: string | undefined }[];
  readonly tookMs: number;
  readonly maxRssMiB: number;
}

const options = parseOptions();
if (options.help) process.stdout.write(HELP);
else if (options.one !== undefined) await printOne(options.one);
else for (const part of options.parts) await report(part);

/** Verifies one server in this process, so that its memory is measured alone. */
async function printOne(name: string): Promise<void> {
  process.stdout.write(JSON.stringify(await measure(findServer(REACH_SERVERS, name))));
}

async function measure(server: ReachServer): Promise<Measured> {
  const startedMs = Date.now();
  const verified = await openVerifier().verify({
    command: [process.execPath, findProgram(server), ...(server.args ?? [])],
    cwd: locateFolder(server),
    env: server.env ?? {},
    ...{ ownEnv: process.env, fixtures: undefined, baseline: undefined, tools: [], limits: LIMITS },
    ...{ recorded: new Map(), signal: new AbortController().signal, onProgress: () => undefined },
  });
  if (!verified.ok) throw new Error(JSON.stringify(verified.error));
  const { tools } = verified.value;
  const { toolsWithSuccess, calls } = computeCoverage(tools);
  return {
    tools: tools.length,
    called: toolsWithSuccess,
    calls,
    contradicted: listContradictions(verified.value).map(
      ({ tool, hint, evidence }) =>
        `${tool.name} ${hint}: ${evidence[0]?.message ?? ''} ${JSON.stringify(evidence[0]?.args)}`,
    ),
    uncalled: tools
      .filter(({ coverage }) => coverage.successfulCalls === 0)
      .map(({ name, failure }) => ({ name, failure })),
    tookMs: Date.now() - startedMs,
    maxRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

async function report(part: Part): Promise<void> {
  const { tuning, heldOut } = splitServers();
  const chosen = (part === 'tuning' ? tuning : heldOut).filter(options.isChosen);
  if (options.list) {
    for (const one of chosen) console.log(`${part}\t${one.package}@${one.version}`);
    return;
  }
  const measured: Measured[] = [];
  for (const server of chosen) {
    const run = { part, limitMs: PROCESS_LIMIT_MS };
    const one = await runApart<Measured>(import.meta.filename, server, run);
    if (one === undefined) continue;
    measured.push(one);
    printMeasured(part, server, one);
  }
  if (measured.length > 0) printTotal(part, measured);
}

function printMeasured(part: Part, server: ReachServer, measured: Measured): void {
  const { called, tools, calls, tookMs, maxRssMiB, contradicted, uncalled } = measured;
  const share = `${called}/${tools} called, ${calls} calls`;
  console.log(
    `${part}\t${server.package}\t${share}\t${(tookMs / 1_000 / tools).toFixed(1)} s a tool\t${maxRssMiB} MiB\t${contradicted.length} contradicted`,
  );
  if (options.tools) {
    for (const { name, failure = '' } of uncalled)
      console.log(`    ${name}: ${JSON.stringify(failure.slice(0, 300))}`);
    for (const line of contradicted) console.log(`    CONTRADICTED ${line}`);
  }
}

function printTotal(part: string, measured: readonly Measured[]): void {
  const sum = (of: (one: Measured) => number): number => measured.reduce((all, one) => all + of(one), 0);
  const [tools, called] = [sum((one) => one.tools), sum((one) => one.called)];
  const seconds = (sum((one) => one.tookMs) / 1_000 / tools).toFixed(2);
  const memory = Math.max(...measured.map(({ maxRssMiB }) => maxRssMiB));
  console.log(
    `${part}: ${measured.length} servers, ${called} of ${tools} tools called (${Math.round((100 * called) / tools)} %), ${seconds} s a tool, at most ${memory} MiB`,
  );
}
