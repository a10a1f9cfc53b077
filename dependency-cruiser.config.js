// The layers of docs/ARCHITECTURE.md: what each package of src/ may import of the others, of Node and of npm.
// A new dependency gets its place here, in the commit that argues for it.

const ADAPTER = ['core', 'protocol', 'platform', 'gateway/ports'];
const PATHS = ['buffer', 'os', 'path', 'url'];

/** `imports`: folders of src/, or single modules; `uses`: modules of Node and packages of npm. */
const PACKAGES = {
  core: { imports: [], uses: [] },
  api: { imports: ['core'], uses: ['zod'] },
  protocol: {
    imports: ['core/result', 'core/collected-bytes', 'core/json-object', 'core/json-pointer', 'core/shorten'],
    uses: ['buffer'],
  },
  platform: {
    imports: [
      'core/backoff',
      'core/cancellation',
      'core/collected-bytes',
      'core/shell-argument',
      'core/turns',
    ],
    uses: [
      'async_hooks',
      'buffer',
      'child_process',
      'crypto',
      'diagnostics_channel',
      'dns',
      'events',
      'fs',
      'http',
      'net',
      'os',
      'path',
      'perf_hooks',
      'process',
      'stream',
      'string_decoder',
      'timers',
      'tls',
      'url',
      'util',
      'v8',
      'vm',
      'worker_threads',
      'zlib',
      'node:sqlite',
      'open',
      'undici',
    ],
  },
  'gateway/ports': { imports: ['core', 'protocol'], uses: ['buffer'] },
  'gateway/catalog': { imports: ['core', 'api', 'protocol', 'gateway/ports'], uses: ['buffer', 'timers'] },
  'gateway/relay': {
    imports: ['core', 'protocol', 'gateway/ports', 'gateway/catalog'],
    uses: ['buffer', 'timers'],
  },
  'gateway/services': {
    imports: ['core', 'api', 'protocol', 'gateway/ports', 'gateway/catalog', 'gateway/relay'],
    uses: ['buffer', 'timers'],
  },
  'adapters/upstream': { imports: ADAPTER, uses: PATHS },
  'adapters/sources': {
    imports: [...ADAPTER, 'functions/function-messages'],
    uses: [...PATHS, 'module', 'ajv', 'ajv-formats', '@jmespath-community/jmespath', 'js-yaml', 're2js'],
  },
  'adapters/store': { imports: ADAPTER, uses: [...PATHS, 'crypto', 'net', 'kysely', 'pg'] },
  'adapters/config': {
    imports: ADAPTER,
    uses: [...PATHS, 'util', 'jsonc-parser', 'toml-eslint-parser'],
  },
  'adapters/auth': { imports: ADAPTER, uses: [...PATHS, 'crypto', 'jose', '@modelcontextprotocol/client'] },
  'adapters/telemetry': {
    imports: ADAPTER,
    uses: [...PATHS, 'module', 'util', 'prom-client', '@opentelemetry/api', 'gpt-tokenizer'],
  },
  'adapters/search': { imports: ADAPTER, uses: ['timers', 'minisearch'] },
  'edges/mcp': {
    imports: ['core', 'api', 'protocol', 'platform', 'gateway'],
    uses: ['buffer', 'crypto', 'http', 'net', 'process', 'stream'],
  },
  'edges/rest': {
    imports: ['core', 'api', 'gateway'],
    uses: ['buffer', 'http', 'hono', '@hono/node-server', 'zod'],
  },
  'edges/cli': {
    imports: ['core', 'api', 'gateway'],
    uses: [
      ...PATHS,
      'console',
      'module',
      'process',
      'readline',
      'tty',
      'util',
      'commander',
      '@clack/prompts',
      'ansis',
      'string-width',
    ],
  },
  // A process of its own, which speaks to Assay by messages.
  functions: {
    imports: [
      'core/result',
      'core/shorten',
      'core/timer',
      'core/token-bucket',
      'platform/is-inside',
      'platform/lines',
    ],
    uses: [
      ...PATHS,
      'async_hooks',
      'dgram',
      'dns',
      'fs',
      'module',
      'net',
      'process',
      'stream',
      'trace_events',
      'v8',
    ],
  },
  // Runs a process and observes it, or confines it.
  sandbox: {
    imports: ['core', 'platform'],
    uses: [...PATHS, 'crypto', 'dgram', 'fs', 'http', 'net', 'process', 'stream'],
  },
  // The verifier of hints, a program of its own.
  verify: {
    imports: ['core', 'platform', 'sandbox/observation'],
    uses: [
      ...PATHS,
      'crypto',
      'fs',
      'perf_hooks',
      'process',
      '@modelcontextprotocol/client',
      'json-schema-faker',
    ],
  },
  // The code-search MCP server, a program of its own.
  codebase: {
    imports: ['core', 'platform'],
    uses: [
      ...PATHS,
      'crypto',
      'fs',
      'module',
      'process',
      'stream',
      'timers',
      'util',
      'v8',
      'worker_threads',
      '@modelcontextprotocol/server',
      '@vscode/tree-sitter-wasm',
      'ignore',
      'pg',
      'sqlite-vec',
      'web-tree-sitter',
      'zod',
    ],
  },
};

function packageRule([name, { imports, uses }]) {
  const own = [name, ...imports].map((path) => `src/${path}(?:/|[.]ts$)`);
  const npm = uses.map((used) => `(?:node_modules/)?${used}(?:/|$)`);
  const list = (names) => (names.length === 0 ? 'nothing' : names.join(', '));
  return {
    name,
    severity: 'error',
    comment: `src/${name} may import of src/: ${list(imports)}; of Node and npm: ${list(uses)}. Reach the rest through an argument or an interface in gateway/ports.`,
    from: { path: `^src/${name}/`, pathNot: EXCEPTIONS },
    to: { pathNot: `^(?:${[...own, ...npm].join('|')})` },
  };
}

/** A hash is a pure function. */
const EXCEPTIONS = '^src/core/digest[.]ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(PACKAGES).map(packageRule),
    {
      name: 'in-a-package',
      severity: 'error',
      comment: 'Every module is in one of the packages, or in src/app.',
      from: { path: '^src/', pathNot: `^src/(?:main[.]ts$|app/|${Object.keys(PACKAGES).join('/|')}/)` },
      to: {},
    },
    {
      name: 'pages',
      severity: 'error',
      comment:
        'The admin pages know of Assay what its REST API says: the types of src/api, and functions of core that import nothing.',
      from: { path: '^web/src/' },
      to: {
        pathNot:
          '^(?:web/src/|src/api/|src/core/(?:hints/infer|json-pointer|shell-argument)[.]ts$|(?:node_modules/)?(?:react|react-dom|@types/react(?:-dom)?|@tanstack/[^/]+|@mantine/core|lucide-react|@rjsf/(?:core|utils)|@cfworker/json-schema)(?:/|$))',
      },
    },
    {
      name: 'api-types',
      severity: 'error',
      comment:
        'The schemas of src/api are values only for edges, which load them when they parse or document JSON. Others use `import type`.',
      from: { path: '^(?:src|web/src)/', pathNot: '^src/(?:api|edges/(?!mcp/))' },
      to: { path: '^src/api/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'services-first',
      severity: 'error',
      comment:
        'Edges parse, call a service and print. What operators do with these is decided in gateway/services.',
      from: { path: '^src/edges/' },
      to: { path: '^src/core/(?:notes[.]ts$|toolset|resolve-settings)' },
    },
    {
      name: 'only-src',
      severity: 'error',
      comment: 'What ships imports from src/ and from npm alone.',
      from: { path: '^src/' },
      to: { path: '^(?:test|bench|scripts|examples)/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Move what they share below them.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycles-of-folders',
      severity: 'error',
      comment: 'Move what they share into the lower folder, or join them.',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'kebab-case',
      severity: 'error',
      from: {},
      to: { path: '^(?:web/)?src/.*[A-Z_][^/]*[.]tsx?$' },
    },
    {
      name: 'found',
      severity: 'error',
      comment: 'The module is not there, or its package not in package.json.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
