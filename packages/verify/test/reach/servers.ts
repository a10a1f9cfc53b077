/** A server whose tools the verifier calls without a fixtures file. */
export interface ReachServer {
  /** The npm package. */
  readonly package: string;
  readonly version: string;
  /** The program, relative to the folder of the package. Default: the first `bin` of the package. */
  readonly main?: string;
  /** `{seed}` is replaced with the folder of the seed data. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Servers from npm that start without keys, a network or native modules, and that the study of 25 servers lacks. */
export const REACH_SERVERS: readonly ReachServer[] = [
  { package: '@accesslint/mcp', version: '0.11.1' },
  { package: '@astrotask/mcp', version: '1.3.0', main: 'dist/stdio.js' },
  {
    package: '@bytebase/dbhub',
    version: '1.4.0',
    args: ['--transport', 'stdio', '--dsn', 'sqlite://{seed}/database.db'],
  },
  { package: 'claude-mermaid', version: '1.3.0' },
  { package: '@djankies/vitest-mcp', version: '0.5.1' },
  { package: 'fast-filesystem-mcp', version: '3.5.2' },
  { package: '@gongrzhe/server-travelplanner-mcp', version: '0.1.2' },
  { package: 'mcp-cli', version: '1.0.5', args: ['{seed}'] },
  { package: 'mcp-context-manager', version: '7.5.0' },
  { package: 'mcp-echarts', version: '0.7.1' },
  { package: 'mcp-memory-libsql', version: '0.0.17', env: { LIBSQL_URL: 'file:{seed}/memory.db' } },
  { package: 'mcp-mermaid', version: '0.4.1' },
  { package: 'mcp-obsidian', version: '1.0.0', args: ['{seed}'] },
  { package: 'mcp-server-code-runner', version: '0.1.8' },
  { package: 'mcp-server-filesystem', version: '0.6.2', args: ['{seed}'] },
  { package: 'mcp-shrimp-task-manager', version: '1.0.21', env: { DATA_DIR: '{seed}/tasks' } },
  { package: '@mcp-z/mcp-pdf', version: '3.2.2' },
  { package: '@modelcontextprotocol/server-budget-allocator', version: '2.0.3', args: ['--stdio'] },
  { package: '@modelcontextprotocol/server-pdf', version: '2.0.4', args: ['--stdio'] },
  { package: '@modelcontextprotocol/server-system-monitor', version: '2.0.3', args: ['--stdio'] },
  { package: '@monoharada/wcf-mcp', version: '0.12.0' },
  { package: '@notprolands/ast-grep-mcp', version: '1.1.1' },
  { package: 'nx-mcp', version: '0.25.0' },
  { package: '@primeng/mcp', version: '22.1.1' },
  { package: '@stevestomp/ohno-mcp', version: '0.20.0' },
  { package: 'tailwindcss-mcp-server', version: '0.1.1' },
  { package: '@wonderwhy-er/desktop-commander', version: '0.2.52' },
  { package: 'ymcp_manager', version: '0.1.5' },
];

/** Which servers the heuristics may be tuned with; the others are only measured. */
export type Part = 'tuning' | 'held-out';

/**
 * Drawn by draw.ts from the study's candidates, before any of them was verified: those that started without keys and a
 * network until the draw was stopped. The servers above were tuned to or measured before.
 */
export const DRAWN_SERVERS: Readonly<Record<Part, readonly ReachServer[]>> = {
  tuning: [
    { package: 'claude-historian-mcp', version: '1.0.3' },
    { package: '@cyanheads/pubmed-mcp-server', version: '2.7.4' },
    { package: '@siemens/element-mcp', version: '51.1.0-v.2.0.3' },
    { package: 'mcp-ripgrep', version: '0.4.0' },
    { package: 'bazi-mcp', version: '0.1.0' },
    { package: 'just-bash-mcp', version: '3.1.0' },
    { package: 'tryll-dataset-builder-mcp', version: '1.3.1' },
    { package: '@mcp-get-community/server-curl', version: '0.1.0' },
  ],
  'held-out': [
    { package: '@kkweon/agent-orchestrator-mcp', version: '1.4.3' },
    { package: '@trustthenverify/trust-mcp', version: '2.1.0' },
    { package: '@standardbeagle/slop-mcp', version: '0.15.0' },
    { package: '@shiplightai/mcp', version: '0.1.78' },
    { package: 'mcp-server-sqlite', version: '0.0.2' },
    { package: '@variflight-ai/variflight-mcp', version: '1.0.3' },
    { package: 'bmall-mcp', version: '1.10.9' },
  ],
};

/** Number that decides which servers the heuristics may be tuned with. Never changed. */
const SPLIT_SEED = 43;

export interface Split {
  readonly tuning: readonly ReachServer[];
  readonly heldOut: readonly ReachServer[];
}

/** Half of the servers for tuning; the others are only measured. */
export function splitServers(servers: readonly ReachServer[] = REACH_SERVERS): Split {
  const random = mulberry32(SPLIT_SEED);
  const drawn = servers.map((server) => ({ server, at: random() })).sort((one, other) => one.at - other.at);
  const half = Math.ceil(drawn.length / 2);
  return {
    tuning: drawn.slice(0, half).map(({ server }) => server),
    heldOut: drawn.slice(half).map(({ server }) => server),
  };
}

/** The generator of numbers mulberry32, so that the draw is the same everywhere. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
