/** One room of src/, with every door that leads out of it. */
export interface Room {
  readonly name: string;
  /** Rooms, or single files without extension, that it may import beside itself. */
  readonly imports: readonly string[];
  /** Modules of Node and npm packages that it may use; `@scope/*` stands for a whole scope. */
  readonly uses: readonly string[];
  /** Where not all of a module is meant: the names that are. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** What a single file may use beyond its room. */
  readonly exceptions?: Readonly<Record<string, readonly string[]>>;
  /** How it reaches whatever stands in none of these lists: "reach X …". */
  readonly otherwise: string;
}

const BY_ARGUMENT = 'through an argument: the ground floor is pure';
export const BY_PORT: string = 'through a port in gateway/ports.ts';
const BY_FILLED_PORT = `${BY_PORT}, which src/compose.ts fills`;
const BY_ROOF = 'through an argument that src/compose.ts passes in';

const ADAPTER_IMPORTS = ['core', 'protocol', 'platform', 'gateway/ports'];
const ADAPTER_USES = ['node:buffer', 'node:os', 'node:path', 'node:url'];

function adapter(name: string, ...uses: readonly string[]): Room {
  return { name, imports: ADAPTER_IMPORTS, uses: [...ADAPTER_USES, ...uses], otherwise: BY_PORT };
}

/** Ground floor first. A new dependency gets its room here, in the commit that argues for it. */
export const ROOMS: readonly Room[] = [
  {
    name: 'core',
    imports: [],
    uses: [],
    exceptions: { 'src/core/digest.ts': ['node:crypto'] },
    otherwise: BY_ARGUMENT,
  },
  {
    name: 'protocol',
    imports: ['core/result', 'core/collected-bytes', 'core/json-object'],
    uses: ['node:buffer'],
    names: { 'node:buffer': ['Buffer', 'isUtf8'] },
    otherwise: BY_ARGUMENT,
  },
  {
    name: 'gateway',
    imports: ['core', 'protocol'],
    uses: ['node:buffer', 'node:timers'],
    otherwise: BY_FILLED_PORT,
  },
  {
    name: 'platform',
    imports: ['core/collected-bytes'],
    uses: [
      'node:async_hooks',
      'node:buffer',
      'node:child_process',
      'node:crypto',
      'node:dns',
      'node:events',
      'node:fs',
      'node:http',
      'node:net',
      'node:os',
      'node:path',
      'node:perf_hooks',
      'node:process',
      'node:stream',
      'node:string_decoder',
      'node:timers',
      'node:tls',
      'node:url',
      'node:util',
      'node:v8',
      'node:worker_threads',
      'node:zlib',
      'open',
      'undici',
    ],
    otherwise: 'through an argument: platform knows Node alone',
  },
  adapter('adapters/upstream'),
  adapter(
    'adapters/sources',
    'node:module',
    'ajv',
    'ajv-formats',
    '@apidevtools/json-schema-ref-parser',
    '@jmespath-community/jmespath',
    're2js',
  ),
  adapter('adapters/store', 'node:crypto', 'kysely', 'better-sqlite3', 'pg'),
  adapter('adapters/config', 'jsonc-parser', 'chokidar'),
  adapter('adapters/auth', 'node:crypto', 'jose', '@modelcontextprotocol/client'),
  adapter('adapters/sandbox'),
  adapter(
    'adapters/telemetry',
    'node:module',
    'pino',
    'pino-pretty',
    'prom-client',
    '@opentelemetry/api',
    'gpt-tokenizer',
  ),
  {
    name: 'edges/mcp',
    imports: ['core', 'protocol', 'platform', 'gateway'],
    uses: ['node:buffer', 'node:crypto', 'node:http', 'node:net', 'node:process', 'node:stream'],
    otherwise: BY_FILLED_PORT,
  },
  {
    name: 'edges/rest',
    imports: ['core', 'gateway'],
    uses: ['node:buffer', 'node:http', 'hono', '@hono/*', 'zod'],
    otherwise: BY_FILLED_PORT,
  },
  {
    name: 'edges/cli',
    imports: ['core', 'gateway'],
    uses: [
      'node:buffer',
      'node:console',
      'node:os',
      'node:path',
      'node:process',
      'node:readline',
      'node:tty',
      'node:url',
      'node:util',
      'commander',
      '@clack/prompts',
      'ansis',
    ],
    otherwise: BY_FILLED_PORT,
  },
  {
    name: 'verify',
    imports: ['core', 'protocol', 'adapters/upstream', 'adapters/sandbox'],
    uses: ['node:buffer', 'node:path', 'node:process', 'node:url'],
    otherwise: BY_ROOF,
  },
  {
    name: 'codebase',
    imports: ['core/result', 'platform'],
    uses: [
      'node:buffer',
      'node:path',
      'node:process',
      'node:url',
      '@modelcontextprotocol/server',
      'zod',
      'web-tree-sitter',
      '@vscode/tree-sitter-wasm',
    ],
    otherwise: BY_ROOF,
  },
  {
    name: 'functions',
    imports: ['core/result', 'core/sources/function-messages', 'platform/lines'],
    uses: [
      'node:async_hooks',
      'node:buffer',
      'node:fs',
      'node:module',
      'node:os',
      'node:path',
      'node:process',
      'node:stream',
      'node:url',
    ],
    exceptions: {
      // What it takes away of them.
      'src/functions/take-away.ts': ['node:trace_events', 'node:v8'],
    },
    otherwise: 'through a message to Assay, which runs it as a process of its own',
  },
  {
    name: 'web',
    imports: ['edges/rest/contract'],
    uses: ['react', 'react-dom', '@tanstack/*', '@mantine/*', 'lucide-react', '@rjsf/*'],
    otherwise: 'through the admin API, whose shape is edges/rest/contract',
  },
];

/** What stands directly in src/: the only place where a port meets an implementation. */
export const ROOF: Room = {
  name: 'the roof',
  imports: ROOMS.map((room) => room.name).filter((name) => name !== 'web'),
  uses: ['node:crypto', 'node:module', 'node:os', 'node:path', 'node:process', 'node:url', 'node:util'],
  otherwise: 'through the room whose matter it is',
};
