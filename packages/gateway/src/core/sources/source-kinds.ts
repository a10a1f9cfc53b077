import { formatProxyUrl, readProxyUrl } from '@assay-mcp/kit/outbound';
import type { CustomTools, ProxySpec, ServerSpec, Transport, TransportOf } from '../server-spec.ts';
import type { Command, SandboxConcession, SandboxMode } from '@assay-mcp/sandbox/rights';
import { namesPrivateData } from '../private-data.ts';
import type { RestAuth } from './custom-tools.ts';
import type { OperationFilter } from './operation-filter.ts';
import type { OutputValidation } from './output-validation.ts';

type Kind = Transport['kind'];

/**
 * Everything that differs between kinds of sources, except how an entry is read (`adapters/config/server-entry.ts`),
 * connected to (`adapters/sources/connect-built-in.ts`) and authorized (`needs-execute.ts`, `elsewhere-fault.ts`), and
 * what the REST API calls it (`api/tool.ts`, `api/server.ts`).
 */
export interface SourceKind<T extends Transport = Transport> {
  /** Whether Assay builds the tools itself, so their requests are known and not only claimed. */
  readonly isBuiltIn: boolean;
  /** Whether Assay confines its process without being asked to, where the machine can. */
  readonly isConfined: boolean;
  /** Whether operators create its tools one by one: a changed entry takes effect at once, on the open link. */
  readonly isCustom: boolean;
  /** Whether saving its entry rereads its document. */
  readonly rereadsOnSave: boolean;
  /** Who declares the hints of its tools, unless an operator wrote the tool. */
  readonly declaredBy: 'server' | 'document' | 'module';
  /** Isolation if its entry sets none: a process is expensive, an HTTP session is cheap. */
  readonly isolation: ServerSpec['isolation'];
  /** The common settings that its entry may have, in display order. */
  readonly settings: readonly ('timeoutMs' | 'prefix' | 'isolation' | 'keepAlive' | 'stopTimeoutMs')[];

  /** What determines which code runs or which URL is called, without headers, limits and other variables. */
  identity(transport: T): readonly string[];
  /** Who is responsible for it: like `identity`, but with only the origin of a URL. */
  origin(transport: T): readonly string[];
  /** The whole transport, as JSON that is independent of key order. */
  comparable(transport: T): unknown;
  /** Whether the operator wrote it, so that it is trusted by default. */
  isOwn(transport: T): boolean;
  /** Whether the operator chose where requests go, so that another target is the operator's own edit. */
  isTargetChosen(transport: T): boolean;
  /** URLs in its entry, even invalid ones, each with its member. */
  urls(transport: T): readonly (readonly [member: string, url: string | undefined])[];
  /** The parts of its entry that may hold secrets. */
  secrets(transport: T): SecretParts;
  /** Its entry as the REST API shows it; `mask` masks secrets in a text. */
  shown(transport: T, mask: (text: string) => string): ShownSource;

  /** The program that serves it, one process for each link. */
  command(transport: T): Command | undefined;
  /** Where and how to sign in. */
  signIn(transport: T): SignInTarget | undefined;
  /** Whether it was given files, folders or a database, so that what it reads is private by default. */
  holdsPrivateData(transport: T): boolean;
  /** The tools and modules that operators created. */
  custom(transport: T): CustomTools;
}
export type SignInTarget = Pick<
  TransportOf<'http'>,
  'url' | 'headers' | 'auth' | 'proxy' | 'proxyResolves' | 'tls'
>;

/** Parts of an entry, grouped by how secrets are recognized in them; `secrets` always are. */
export interface SecretParts {
  readonly variables?: readonly (readonly [name: string, value: string])[];
  readonly args?: readonly string[];
  readonly urls?: readonly string[];
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly secrets?: readonly string[];
}

export interface ShownSource {
  readonly transport: 'stdio' | 'auto' | 'streamable-http' | 'sse' | 'codebase' | 'openapi' | 'local';
  /** The OpenAPI document. */
  readonly openapi?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly operations?: OperationFilter | undefined;
  readonly outputValidation?: OutputValidation | undefined;
  readonly url?: string | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Names only. */
  readonly env?: readonly string[] | undefined;
  readonly sandbox?: SandboxMode | undefined;
  readonly roots?: readonly string[] | undefined;
  readonly network?: readonly string[] | undefined;
  readonly sandboxAccepts?: readonly SandboxConcession[] | undefined;
  /** Names only. */
  readonly headers?: readonly string[] | undefined;
  /** The files of certificates. */
  readonly clientCertificate?: string | undefined;
  readonly ca?: string | undefined;
  /** Names of security schemes only. */
  readonly credentials?: readonly string[] | undefined;
  /** Without credentials. */
  readonly proxy?: string | false | undefined;
  readonly proxyResolves?: boolean | undefined;
}

export function getSourceKind({ kind }: Transport): SourceKind {
  return SOURCE_KINDS[kind];
}

/** Whether each link to it starts a process. */
export function startsProcess(transport: Transport): boolean {
  return getSourceKind(transport).command(transport) !== undefined;
}

/** Whether its entry sets the Authorization header itself; then nobody is asked to sign in. */
export function hasOwnAuthorization({ transport }: Pick<ServerSpec, 'transport'>): boolean {
  const names = Object.keys(getSourceKind(transport).signIn(transport)?.headers ?? {});
  return names.some((name) => name.toLowerCase() === 'authorization');
}

const NOTHING_CUSTOM: CustomTools = { tools: [], modules: [] };

/** Values that are false or empty for most kinds. */
const COMMON = {
  isBuiltIn: false,
  isConfined: false,
  isCustom: false,
  rereadsOnSave: false,
  declaredBy: 'server',
  isolation: 'shared',
  settings: ['timeoutMs', 'prefix', 'isolation'],
  isOwn: () => false,
  isTargetChosen: () => false,
  command: () => undefined,
  signIn: () => undefined,
  holdsPrivateData: () => false,
  custom: () => NOTHING_CUSTOM,
} satisfies Partial<SourceKind>;

const STDIO: SourceKind<TransportOf<'stdio'>> = {
  ...COMMON,
  settings: [...COMMON.settings, 'keepAlive', 'stopTimeoutMs'],
  identity: whatRuns,
  origin: whatRuns,
  comparable: ({ command, args, env, cwd, sandbox, roots, network, sandboxAccepts }) => [
    ...[command, args, sorted(env), cwd],
    ...[sandbox, roots, network, sandboxAccepts],
  ],
  urls: () => [],
  secrets: ({ env, args }) => ({ variables: Object.entries(env), args }),
  shown: ({ command, args, cwd, env, sandbox, roots, network, sandboxAccepts }, mask) => ({
    transport: 'stdio',
    command,
    args: args.map(mask),
    cwd,
    env: namesOf(env),
    ...{ sandbox, roots, network, sandboxAccepts },
  }),
  command: (transport) => transport,
  holdsPrivateData: ({ args, env }) => namesPrivateData(args, env),
};

const HTTP: SourceKind<TransportOf<'http'>> = {
  ...COMMON,
  isolation: 'session',
  identity: ({ url }) => [url.href],
  origin: ({ url }) => [url.origin],
  comparable: ({ flavour, url, headers, auth, tls, proxy, proxyResolves }) => [
    ...[flavour, url.href, sorted(headers)],
    ...[auth?.clientId, auth?.clientSecret, auth?.issuer, auth?.scope, auth?.isPersonal],
    ...[auth?.authorizationServer, auth?.metadataUrl, auth?.authorizationEndpoint, auth?.tokenEndpoint],
    ...[auth?.resource, sorted(auth?.parameters ?? {}), auth?.redirectUri],
    ...[auth?.grant, auth?.privateKeyFile, auth?.algorithm, auth?.keyId, auth?.assertionAudience],
    auth?.tokenAuthMethod,
    ...[tls?.certFile, tls?.keyFile, tls?.passphrase, tls?.caFile, proxy, proxyResolves],
  ],
  urls: ({ url }) => [['url', url.href]],
  secrets: ({ url, headers, auth, tls, proxy }) => ({
    urls: [url.href, ...(proxy ? [proxy] : [])],
    headers: Object.entries(headers),
    secrets: [auth?.clientSecret ?? '', tls?.passphrase ?? ''],
  }),
  shown: ({ flavour, url, headers, tls, ...proxySpec }, mask) => ({
    transport: flavour === 'streamable' ? 'streamable-http' : flavour,
    url: mask(url.href),
    headers: namesOf(headers),
    clientCertificate: tls?.certFile,
    ca: tls?.caFile,
    ...showProxy(proxySpec),
  }),
  signIn: (transport) => transport,
};

/** Identified by its name: an update of Node or Assay moves its files, but operators' settings must survive. */
const CODEBASE: SourceKind<TransportOf<'codebase'>> = {
  ...COMMON,
  settings: [...COMMON.settings, 'keepAlive'],
  isConfined: true,
  isolation: 'session',
  identity: ({ kind, env }) => [kind, ...variablesOf(env)],
  origin: ({ kind, env }) => [kind, ...variablesOf(env)],
  comparable: ({ command, args, env }) => [command, args, sorted(env)],
  isOwn: ({ env }) => variablesOf(env).length === 0,
  urls: () => [],
  secrets: ({ env }) => ({ variables: Object.entries(env) }),
  shown: ({ env, roots }) => ({ transport: 'codebase', env: namesOf(env), roots }),
  command: (transport) => transport,
  holdsPrivateData: () => true,
};

const OPENAPI: SourceKind<TransportOf<'openapi'>> = {
  ...COMMON,
  isBuiltIn: true,
  rereadsOnSave: true,
  declaredBy: 'document',
  settings: ['timeoutMs', 'prefix'],
  identity: ({ kind, document }) => [kind, document],
  // A corrected upload keeps operators' settings for its tools; changes still show up as drift.
  origin: ({ kind, document, text }) => [
    kind,
    text === undefined ? (URL.parse(document)?.origin ?? document) : 'upload',
  ],
  comparable: (transport) => transport,
  // A document that was uploaded or comes from a URL was written by someone else.
  isOwn: ({ document }) => !URL.canParse(document),
  isTargetChosen: ({ baseUrl }) => baseUrl !== undefined,
  urls: ({ document, baseUrl }) => [
    ['openapi', document],
    ['baseUrl', baseUrl],
  ],
  secrets: ({ document, baseUrl = '', headers, credentials, proxy }) => ({
    urls: [document, baseUrl, ...(proxy ? [proxy] : [])],
    headers: Object.entries(headers),
    secrets: Object.values(credentials).map((one) => (typeof one === 'string' ? one : one.password)),
  }),
  shown: ({ document, baseUrl, headers, credentials, operations, outputValidation, ...proxySpec }, mask) => ({
    transport: 'openapi',
    ...showProxy(proxySpec),
    openapi: mask(document),
    ...(baseUrl !== undefined && { baseUrl: mask(baseUrl) }),
    headers: namesOf(headers),
    credentials: namesOf(credentials),
    ...(operations !== undefined && { operations }),
    outputValidation,
  }),
};

const CUSTOM: SourceKind<TransportOf<'local'>> = {
  ...COMMON,
  isBuiltIn: true,
  isCustom: true,
  declaredBy: 'module',
  settings: ['timeoutMs'],
  // Whatever is added or removed, the operator stays responsible for it.
  identity: ({ kind }) => [kind],
  origin: ({ kind }) => [kind],
  comparable: (transport) => transport,
  isOwn: () => true,
  urls: ({ tools }) => tools.map(({ url }) => ['url', url]),
  secrets: ({ tools, modules }) => ({
    variables: modules.flatMap(({ env }) => Object.entries(env)),
    urls: tools.map(({ url }) => url),
    headers: tools.flatMap(({ headers }) => Object.entries(headers)),
    secrets: tools.flatMap(({ auth }) => (auth === undefined ? [] : [secretOf(auth)])),
  }),
  shown: () => ({ transport: 'local' }),
  custom: (transport) => transport,
};

const SOURCE_KINDS: Readonly<Record<Kind, SourceKind>> = {
  stdio: STDIO,
  http: HTTP,
  codebase: CODEBASE,
  openapi: OPENAPI,
  local: CUSTOM,
};

function sorted(members: Readonly<Record<string, string>>): unknown {
  return Object.entries(members).sort(byName);
}

/** A proxy as it is shown. */
function showProxy({ proxy, proxyResolves }: ProxySpec): Pick<ShownSource, 'proxy' | 'proxyResolves'> {
  const shown = typeof proxy === 'string' ? formatWrittenProxy(proxy) : proxy;
  return { proxy: shown, proxyResolves };
}

/** User and password may still be references. */
function formatWrittenProxy(written: string): string {
  const url = readProxyUrl(written.replace(/\$\{.*\}/g, 'x'));
  return url.ok ? formatProxyUrl(url.value) : '(not a URL)';
}

type Variable = readonly [name: string, value: string];

function byName([one]: Variable, [other]: Variable): number {
  return one < other ? -1 : 1;
}

function namesOf(values: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const names = Object.keys(values);
  return names.length === 0 ? undefined : names;
}

function secretOf(auth: RestAuth): string {
  if (auth.kind === 'bearer') return auth.token;
  return auth.kind === 'basic' ? auth.password : auth.value;
}

function whatRuns({ command, args, cwd, isCwdGiven = false, env }: Command): readonly string[] {
  const folder = isCwdGiven || isRelative(command, args) ? cwd : '';
  return [JSON.stringify([command, ...args]), folder, JSON.stringify(choosing(env))];
}

/** The variables that could make other code run, as part of an identity. */
function variablesOf(env: Command['env']): readonly string[] {
  const variables = choosing(env);
  return variables.length === 0 ? [] : [JSON.stringify(variables)];
}

function choosing(env: Command['env']): readonly Variable[] {
  return Object.entries(env)
    .filter(([name]) => CHOOSES_CODE.test(name) && !IS_CREDENTIAL.test(name))
    .toSorted(byName);
}

/** Whether the working folder determines which file is run. */
function isRelative(command: string, args: readonly string[]): boolean {
  const isBelow = /[/\\]/.test(command) && !IS_ABSOLUTE.test(command);
  return isBelow || args.some((arg) => RELATIVE_FILE.test(arg) && !IS_ABSOLUTE.test(arg));
}

const IS_ABSOLUTE = /^(?:[/\\]|[A-Za-z]:[/\\]|\w+:\/\/)/;
/** `./server`, `build/index.js`, `--import=./hook.mjs`; and `-m`, with which Python searches the folder first. */
const RELATIVE_FILE =
  /^(?:-m|(?:-[\w-]+=)?\.{1,2}(?:[/\\].*)?|[^/@-][^:]*\.(?:[cm]?[jt]sx?|py|rb|sh|bash|pl|php|jar|exe|wasm))$/i;

/** Changing one of these does not change the code that runs. */
const IS_CREDENTIAL = /token|password|passwd|secret|auth|username|key/i;

/** Variables that make a loader, shell, runtime or package runner run other code for the same command. */
const CHOOSES_CODE =
  /^(?:PATH|PATHEXT|LD_.+|DYLD_.+|GCONV_PATH|NODE_(?:OPTIONS|PATH)|PYTHON(?:PATH|HOME|STARTUP|USERBASE)|VIRTUAL_ENV|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)|BUNDLE_GEMFILE|PERL5?(?:OPT|LIB|DB)|CLASSPATH|JAVA_HOME|(?:_|JDK_)?JAVA_(?:TOOL_)?OPTIONS|BASH_ENV|ENV|SHELL|COMSPEC|DOTNET_STARTUP_HOOKS|DENO_DIR|(?:npm|NPM)_CONFIG_.+|(?:UV|PIP|PIPX|BUN|YARN|PNPM)_.+)$/i;
