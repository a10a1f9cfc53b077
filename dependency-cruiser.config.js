import { readdirSync, readFileSync } from 'node:fs';

// The packages and layers of docs/ARCHITECTURE.md, and what each may import.

const PACKAGES = readdirSync(new URL('packages', import.meta.url)).map((folder) => {
  const manifest = readFileSync(new URL(`packages/${folder}/package.json`, import.meta.url), 'utf8');
  return { folder, ...JSON.parse(manifest) };
});
const FOLDERS = new Map(PACKAGES.map(({ name, folder }) => [name, `packages/${folder}/src`]));

/** Sources of other packages that are imported by their paths. */
const MORE = {
  admin: ['packages/gateway/src/api'],
  gateway: ['packages/verify/src', 'packages/codebase/src'],
};

/** A package imports what its package.json names. */
const packageRules = PACKAGES.map(({ name, folder, dependencies = {}, devDependencies = {} }) => {
  const own = `packages/${folder}/src`;
  const named = Object.keys({ ...dependencies, ...devDependencies }).map(
    (one) => FOLDERS.get(one) ?? `(?:packages/${folder}/node_modules/|node_modules/)?${one}`,
  );
  return {
    name,
    severity: 'error',
    comment: `${own} may import what packages/${folder}/package.json names. Reach the rest through an argument.`,
    from: { path: `^${own}/` },
    to: {
      dependencyTypesNot: ['core'],
      pathNot: `^(?:${[own, ...named, ...(MORE[folder] ?? [])].join('|')})(?:/|$)`,
    },
  };
});

const KIT = 'packages/kit/src';
const PROTOCOL = 'packages/protocol/src';
const GATEWAY = 'packages/gateway/src';
const ADMIN = 'packages/admin/src';
/** What the rules of the gateway know of a sandbox: its terms, no code that runs one. */
const TERMS = 'packages/sandbox/src/(?:rights|support|denial|network-rules)';
const BELOW = [KIT, PROTOCOL, TERMS];
const ADAPTER = ['core', 'gateway/ports', ...BELOW];

/** The layers of the gateway: folders of its src/, or of other packages, that each may import. */
const LAYERS = {
  core: [KIT, TERMS],
  api: ['core', KIT, TERMS],
  'gateway/ports': ['core', ...BELOW],
  'gateway/catalog': ['core', 'api', 'gateway/ports', ...BELOW],
  'gateway/relay': ['core', 'gateway/ports', 'gateway/catalog', ...BELOW],
  'gateway/services': ['core', 'api', 'gateway/ports', 'gateway/catalog', 'gateway/relay', ...BELOW],
  'adapters/upstream': ADAPTER,
  'adapters/sources': [...ADAPTER, 'packages/functions/src/function-messages'],
  'adapters/store': ADAPTER,
  'adapters/config': ADAPTER,
  'adapters/auth': ADAPTER,
  'adapters/telemetry': ADAPTER,
  'adapters/search': ADAPTER,
  'edges/mcp': ['core', 'api', 'gateway', ...BELOW],
  'edges/rest': ['core', 'api', 'gateway', ...BELOW],
  'edges/cli': ['core', 'api', 'gateway', KIT, TERMS],
};

const layerRules = Object.entries(LAYERS).map(([layer, imports]) => ({
  name: layer,
  severity: 'error',
  comment: `${GATEWAY}/${layer} may import: ${imports.join(', ')}. Reach the rest through an argument or an interface in gateway/ports.`,
  from: { path: `^${GATEWAY}/${layer}/` },
  to: {
    path: '^packages/',
    pathNot: [layer, ...imports].map(
      (path) => `^${path.startsWith('packages/') ? path : `${GATEWAY}/${path}`}(?:/|[.]ts$)`,
    ),
  },
}));

/** Rules and data, which neither wait for anything nor reach anything outside. */
const PURE = `^(?:${GATEWAY}/(?:core|gateway)|${PROTOCOL}|${KIT}/(?!platform/)|${TERMS})`;

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...packageRules,
    ...layerRules,
    {
      name: 'pure',
      severity: 'error',
      comment:
        'No files, processes, sockets or threads here. Take them as an argument or an interface in gateway/ports.',
      from: { path: PURE, pathNot: `^${KIT}/digest[.]ts$` },
      to: { path: `^${KIT}/platform/`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pure-of-node',
      severity: 'error',
      comment: 'Of Node only Buffer and timers, and nothing of npm.',
      from: { path: PURE, pathNot: `^${KIT}/(?:digest|transliterate)[.]ts$` },
      to: { pathNot: ['^packages/', '^buffer$', '^timers(?:/promises)?$'] },
    },
    {
      name: 'pages',
      severity: 'error',
      comment: 'The admin pages know of Assay what its REST API says.',
      from: { path: `^${ADMIN}/` },
      to: { path: [`^${GATEWAY}/`, `^${KIT}/platform/`], pathNot: `^${GATEWAY}/api/` },
    },
    {
      name: 'api-types',
      severity: 'error',
      comment:
        'The schemas of api/ are values only for edges, which load them when they parse or document JSON. Others use `import type`.',
      from: { path: `^(?:${GATEWAY}|${ADMIN})/`, pathNot: `^${GATEWAY}/(?:api|edges/(?!mcp/))` },
      to: { path: `^${GATEWAY}/api/`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'services-first',
      severity: 'error',
      comment:
        'Edges parse, call a service and print. What operators do with these is decided in gateway/services.',
      from: { path: `^${GATEWAY}/edges/` },
      to: { path: `^${GATEWAY}/core/(?:notes[.]ts$|toolset|resolve-settings)` },
    },
    {
      name: 'only-src',
      severity: 'error',
      comment: 'What ships imports from packages and from npm alone.',
      from: { path: '^packages/[^/]+/src/' },
      to: { path: ['^(?:test|bench|scripts|examples)/', '^packages/[^/]+/test/'] },
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
      to: { path: '^packages/[^/]+/src/.*[A-Z_][^/]*[.]tsx?$' },
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
