// `npm run reach:explore`: how many tools of the drawn servers are called successfully while arguments are sought, without
// the trials that follow. What needs a network or a credential is counted apart.
import { listHosts } from '../../src/judge/contacts.ts';
import { examineServer } from '../../src/experiment/examine-server.ts';
import { type Attempt, type ExploredTool, isClearSuccess } from '../../src/experiment/explore-tools.ts';
import { prepareServer } from '../../src/experiment/prepare-server.ts';
import { prepareSeed } from '../../src/seed.ts';
import { buildSetting, withReachServer } from './installed.ts';
import { findServer, parseOptions, runApart } from './run-apart.ts';
import { DRAWN_SERVERS, type Part, type ReachServer } from './servers.ts';

const HELP = `npm run reach:explore -- [NAME...] [--part tuning|held-out] [--tools]

Installs the drawn servers of packages/verify/test/reach/servers.ts into .study/reach/, and seeks arguments with which
their tools can be called. A tool needs a network if it asks for a host or its answers name an error of the network, and
a credential if its answers ask for one.

  NAME     only these servers, by package
  --part   only these servers
  --tools  also prints what was tried with each tool that was not called
`;

/** What a tool needs that a sandbox lacks. */
type Need = 'network' | 'credential';

interface ExploredReach {
  readonly tools: readonly {
    readonly name: string;
    readonly isCalled: boolean;
    readonly need: Need | undefined;
    readonly attempts: readonly { readonly args: unknown; readonly answer: string }[];
  }[];
  readonly tookMs: number;
}

const START_LIMIT_MS = 30_000;
const CALL_LIMIT_MS = 5_000;
const MAX_ANSWER = 600;
const PROCESS_LIMIT_MS = 500_000;
const CREDENTIAL =
  /\b(?:api|access|secret|license)[ _-]?(?:key|token)s?\b|\b[A-Z]+_(?:API_KEY|KEY|TOKEN|SECRET|PASSWORD)\b|\bunauthori[sz]ed\b|\bnot (?:authenticated|logged in|signed in)\b|\bauthentication (?:failed|required)\b|\bcredentials?\b/i;
const NETWORK =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH)\b|\bgetaddrinfo\b|\bfetch failed\b|\bnetwork (?:error|request failed)\b|\bsocket hang up\b/i;

const options = parseOptions();
if (options.help) process.stdout.write(HELP);
else if (options.one !== undefined) await printOne(options.one);
else for (const part of options.parts) await report(part);

async function printOne(name: string): Promise<void> {
  const explored = await exploreReach(findServer(Object.values(DRAWN_SERVERS).flat(), name));
  process.stdout.write(JSON.stringify(explored), () => process.exit());
}

async function report(part: Part): Promise<void> {
  const chosen = DRAWN_SERVERS[part].filter(options.isChosen);
  const all: ExploredReach['tools'][number][] = [];
  for (const server of chosen) {
    const run = { part, limitMs: PROCESS_LIMIT_MS };
    const explored = await runApart<ExploredReach>(import.meta.filename, server, run);
    if (explored === undefined) continue;
    const { tools, tookMs } = explored;
    all.push(...tools);
    console.log(`${part}\t${server.package}\t${summarize(tools)}\t${(tookMs / 1_000).toFixed(0)} s`);
    if (options.tools) printFailed(tools);
  }
  if (all.length > 0) console.log(`${part}: ${chosen.length} servers, ${summarize(all)}`);
}

function summarize(tools: ExploredReach['tools']): string {
  const called = tools.filter(({ isCalled }) => isCalled).length;
  const able = tools.filter(({ need }) => need === undefined).length;
  const share = (of: number): string =>
    of === 0 ? 'none of 0' : `${called} of ${of} (${Math.round((100 * called) / of)} %)`;
  return `${share(tools.length)} called, ${share(able)} of those that need neither network nor credential`;
}

function printFailed(tools: ExploredReach['tools']): void {
  for (const { name, need, attempts } of tools.filter(({ isCalled }) => !isCalled)) {
    console.log(`    ${name}${need === undefined ? '' : ` (${need})`}`);
    for (const { args, answer } of attempts.slice(0, 6))
      console.log(`        ${JSON.stringify(args).slice(0, 300)} → ${JSON.stringify(answer.slice(0, 300))}`);
  }
}

/** Throws if the server does not start. */
async function exploreReach(server: ReachServer): Promise<ExploredReach> {
  const startedMs = Date.now();
  const seed = await prepareSeed(undefined);
  try {
    const examined = await examineServer(buildSetting(server, seed));
    if (!examined.ok) throw new Error(JSON.stringify(examined.error));
    const tookMs = Date.now() - startedMs;
    const tools = [...examined.value.explored].map(([name, explored]) => ({ name, explored }));
    const failed = tools.filter(({ explored }) => !explored.attempts.some(isCalled));
    const hosts = await findHosts(server, failed);
    return {
      tools: tools.map(({ name, explored: { attempts } }) => ({
        name,
        isCalled: attempts.some(isCalled),
        need: attempts.some(isCalled) ? undefined : findNeed(attempts, hosts.get(name) ?? []),
        attempts: attempts.map(({ args, answer }) => ({ args, answer: answer.text.slice(0, MAX_ANSWER) })),
      })),
      tookMs,
    };
  } finally {
    await seed.remove();
  }
}

function isCalled({ answer }: Attempt): boolean {
  return isClearSuccess(answer);
}

/** The hosts that each tool asks for when it is called with the arguments that were tried last. */
async function findHosts(
  server: ReachServer,
  tools: readonly { readonly name: string; readonly explored: ExploredTool }[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const hosts = new Map<string, readonly string[]>();
  for (const { name, explored } of tools) {
    const args = explored.attempts.at(-1)?.args;
    if (args === undefined) continue;
    await withReachServer(server, START_LIMIT_MS, async (opened) => {
      const signal = AbortSignal.timeout(4 * CALL_LIMIT_MS);
      await prepareServer(opened, explored.setups[0] ?? [], { pace: { callLimitMs: CALL_LIMIT_MS }, signal });
      await opened.observe();
      await opened.call(name, args, { limitMs: CALL_LIMIT_MS, signal });
      hosts.set(name, listHosts([await opened.observe()]));
    });
  }
  return hosts;
}

function findNeed(attempts: readonly Attempt[], hosts: readonly string[]): Need | undefined {
  const says = (pattern: RegExp): boolean => attempts.some(({ answer }) => pattern.test(answer.text));
  if (says(CREDENTIAL)) return 'credential';
  return hosts.length > 0 || says(NETWORK) ? 'network' : undefined;
}
