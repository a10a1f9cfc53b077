// What the twin of a server in a sandbox costs: its first call, each further call, memory, and the start of a gateway.
import { callsInPairs, type Calling, type CallPair } from './call-pairs.ts';
import { listAll } from './lists.ts';
import { rssMbOf, treeOf } from './proc.ts';
import { flawOfOneCall } from './session.ts';
import { median } from './statistics.ts';
import { echoCommand, type Place, waitFor } from './targets.ts';

const TWINS = 10;
const TOOL = 'echo';
const ROUNDS = 5;

export interface SandboxCost {
  /** With one client at a time: calls that the twin answers, of calls that the server itself answers. */
  readonly rounds: readonly CallPair[];
  readonly firstCalls: readonly FirstCall[];
  /** Resident memory of all processes of one twin. */
  readonly twinMb: number | undefined;
  readonly starts: readonly GatewayStart[];
}

interface FirstCall {
  readonly twinMs: number;
  readonly plainMs: number;
}

/** From the start of the process until the tools of ten servers are listed. */
interface GatewayStart {
  readonly twinsMs: number;
  readonly plainMs: number;
}

/** How much longer the first call takes. */
export function addedFirstMs({ firstCalls }: SandboxCost): number | undefined {
  return median(firstCalls.map(({ twinMs, plainMs }) => twinMs - plainMs));
}

export function startOfTwins({ starts }: SandboxCost): number | undefined {
  return median(starts.map(({ twinsMs, plainMs }) => twinsMs / plainMs));
}

/** The time of a call on the twin, of one on the server itself. */
export function callOfTwin({ rounds }: SandboxCost): number | undefined {
  return median(rounds.map(({ onePerSecond, otherPerSecond }) => otherPerSecond / onePerSecond));
}

/** Rejects on a wrong answer, and where no sandbox can start. */
export async function measureSandbox(place: Place, calling: Calling): Promise<SandboxCost> {
  const gateways = new Gateways(place);
  const firstCalls: FirstCall[] = [];
  const starts: GatewayStart[] = [];
  let twinMb: number | undefined;
  let pair = await gateways.pair(1);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = new Set(treeOf(pair.twin.pid));
    firstCalls.push({ twinMs: await firstCallMs(pair.twin), plainMs: await firstCallMs(pair.plain) });
    const added = treeOf(pair.twin.pid).filter((pid) => !before.has(pid));
    twinMb ??= added.reduce((sum, pid) => sum + (rssMbOf(pid) ?? NaN), 0);
    if (added.length === 0) throw new Error('the call started no twin');
    if (round === ROUNDS) break;
    gateways.end(pair);
    pair = await gateways.pair(1);
  }
  const rounds = await callsInPairs(pair.twin.endpoint, pair.plain.endpoint, { ...calling, concurrency: 1 });
  gateways.end(pair);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const many = await gateways.pair(TWINS);
    starts.push({ twinsMs: many.twin.startedMs, plainMs: many.plain.startedMs });
    gateways.end(many);
  }
  return { rounds, firstCalls, twinMb, starts };
}

interface StartedGateway {
  readonly endpoint: string;
  readonly pid: number;
  readonly startedMs: number;
  readonly end: () => void;
}

interface GatewayPair {
  readonly twin: StartedGateway;
  readonly plain: StartedGateway;
}

class Gateways {
  readonly #place: Place;
  #count = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Two gateways with this many servers each, which differ in nothing but the sandbox. */
  async pair(serverCount: number): Promise<GatewayPair> {
    this.#count += 1;
    const isTwinFirst = this.#count % 2 === 0;
    const first = await this.#start(serverCount, isTwinFirst);
    const second = await this.#start(serverCount, !isTwinFirst);
    return isTwinFirst ? { twin: first, plain: second } : { twin: second, plain: first };
  }

  end({ twin, plain }: GatewayPair): void {
    twin.end();
    plain.end();
  }

  async #start(serverCount: number, isTwin: boolean): Promise<StartedGateway> {
    const server = { ...echoCommand(), ...(isTwin && { sandbox: 'twin' }), prefix: serverCount > 1 };
    const names = Array.from({ length: serverCount }, (_, at) => `echo${String(at)}`);
    const mcpServers = Object.fromEntries(names.map((name) => [name, server]));
    const settings = { 'activity.calls': false };
    const startMs = performance.now();
    const name = `sandbox-${String(this.#count)}-${isTwin ? 'twin' : 'plain'}`;
    const { endpoint, running } = await this.#place.assay(name, { mcpServers, settings });
    await waitFor(running, async () => {
      const tools = (await listAll(endpoint)).flatMap((page) => page.names);
      return tools.length < serverCount * TOOLS_EACH ? `only ${String(tools.length)} tools` : undefined;
    });
    return { endpoint, pid: running.pid, startedMs: performance.now() - startMs, end: running.end };
  }
}

const TOOLS_EACH = 10;

async function firstCallMs({ endpoint }: StartedGateway): Promise<number> {
  const startMs = performance.now();
  const flaw = await flawOfOneCall(endpoint, 'modern', TOOL);
  if (flaw !== undefined) throw new Error(flaw);
  return performance.now() - startMs;
}
