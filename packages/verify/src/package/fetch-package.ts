import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { findErrorLine } from '@assay-mcp/kit/stderr-error';
import { isJsonObject, parseObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { readTextWithin } from '@assay-mcp/kit/platform/bounded-file';
import { type Child, type ChildOptions, listInheritedEnv } from '@assay-mcp/kit/platform/child';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import { findCommand, inspectPath, readStart } from '@assay-mcp/kit/platform/machine';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { readOutput } from '@assay-mcp/kit/platform/read-output';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { FetchedPackage } from '@assay-mcp/kit/verification/report';
import type { Fetcher, FetchRights } from '@assay-mcp/sandbox/start-confined';
import { measureFolder } from './measure-folder.ts';
import type { NpxCommand } from './npx-command.ts';

/** Starts a program that may only change one folder and connect to the registry. The error is a phrase. */
export type StartFetcher = (options: ChildOptions, rights: FetchRights) => Promise<Result<Fetcher, string>>;

export interface FetchOptions {
  readonly cwd: string;
  /** Variables of this process: PATH is searched for npm. */
  readonly ownEnv: Readonly<Record<string, string | undefined>>;
  readonly startFetcher: StartFetcher;
  readonly signal: AbortSignal;
}

/** A package on this machine. The caller removes it. */
export interface FetchedProgram {
  /** Starts its command. */
  readonly command: readonly string[];
  readonly facts: FetchedPackage;
  readonly remove: () => Promise<void>;
}

/** What one fetch may take. */
const LIMIT_MS = 300_000;
const MAX_BYTES = 2 * 1024 ** 3;
const MAX_ENTRIES = 200_000;
const MEASURE_MS = 1_000;
const MAX_STDERR = 16 * 1024;
const MAX_MANIFEST_BYTES = 1024 ** 2;
const MAX_LOCK_BYTES = 64 * 1024 ** 2;
const MAX_SKIPPED = 100;

/**
 * Fetches a package and what it depends on with npm, without running scripts, in a sandbox that can change nothing but
 * a new folder and reach nothing but the registry. The error is a phrase.
 */
export async function fetchPackage(
  wanted: NpxCommand,
  options: FetchOptions,
): Promise<Result<FetchedProgram, string>> {
  const npm = await locateNpm(options);
  if (npm === undefined) return err('no npm-cli.js behind "npm" on PATH; install Node with its npm');
  const folder = await createFolder(options.ownEnv);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const registry = await readRegistry(npm, wanted, { folder, ownEnv: options.ownEnv });
    if (!registry.ok) {
      await remove();
      return registry;
    }
    const installed = await install(wanted, { ...options, npm, registry: registry.value, folder });
    const program = installed.ok
      ? await locateProgram(wanted, { folder, registry: registry.value.host })
      : installed;
    if (program.ok) return ok({ ...program.value, remove });
    await remove();
    return program;
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The script of npm, which no shim of a version manager stands for. */
async function locateNpm({ cwd, ownEnv }: FetchOptions): Promise<string | undefined> {
  const found = await findCommand('npm', { cwd, path: ownEnv['PATH'] ?? '' });
  const script = found.kind === 'found' ? await realpath(found.path).catch(() => undefined) : undefined;
  return script !== undefined && basename(script) === 'npm-cli.js' ? script : undefined;
}

/**
 * The registry of the user's npm. The `.npmrc` of a project does not count: a server may have written it, and npm puts
 * environment variables into its values.
 */
async function readRegistry(
  npm: string,
  { name }: NpxCommand,
  { folder, ownEnv }: Pick<FetchOptions, 'ownEnv'> & { readonly folder: string },
): Promise<Result<URL, string>> {
  const env = { ...listInheritedEnv(undefined, ownEnv), ...listInheritedEnv(NPM_SETTING, ownEnv) };
  const scope = name.startsWith('@') ? name.slice(0, name.indexOf('/')) : undefined;
  const ask = (key: string): Promise<string | undefined> =>
    readOutput(process.execPath, [npm, 'config', 'get', key, '--prefix=.'], { cwd: folder, env });
  const own = scope === undefined ? UNSET : await ask(`${scope}:registry`);
  const address = own === UNSET ? await ask('registry') : own;
  const url = address === undefined ? null : URL.parse(address);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return ok(url);
  return err(
    address === undefined
      ? 'npm did not say which registry it uses'
      : 'its registry URL is neither http nor https',
  );
}

const NPM_SETTING = /^npm_config_/i;

/** What npm prints for a setting that is not set. */
const UNSET = 'undefined';

async function createFolder(env: FetchOptions['ownEnv']): Promise<string> {
  const { XDG_CACHE_HOME: given = '' } = env;
  const parent = join(isAbsolute(given) ? given : join(homedir(), '.cache'), 'assay-verify');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return realpath(await mkdtemp(join(parent, 'package-')));
}

interface Install extends FetchOptions {
  readonly npm: string;
  readonly registry: URL;
  readonly folder: string;
}

async function install({ spec }: NpxCommand, given: Install): Promise<Result<undefined, string>> {
  const { npm, registry, folder, startFetcher, signal, ownEnv } = given;
  const certificates = ownEnv['NODE_EXTRA_CA_CERTS'] ?? '';
  const hasCertificates = isAbsolute(certificates) && (await inspectPath(certificates))?.is === 'file';
  const port = registry.port === '' ? (registry.protocol === 'https:' ? 443 : 80) : registry.port;
  const started = await startFetcher(
    {
      command: process.execPath,
      args: [npm, 'install', ...FLAGS, `--registry=${registry.href}`, '--', spec],
      cwd: folder,
      env: {
        npm_config_cache: join(folder, '.cache'),
        npm_config_prefix: folder,
        npm_config_userconfig: '/dev/null',
        npm_config_globalconfig: join(folder, 'absent'),
        ...(hasCertificates && { NODE_EXTRA_CA_CERTS: certificates }),
      },
    },
    {
      folder,
      reads: hasCertificates ? [await realpath(certificates)] : [],
      network: [`${registry.hostname}:${port}`],
    },
  );
  if (!started.ok) return started;
  const { child, listRefused } = started.value;
  const output = collectEnd(child);
  const stopped = await waitWithin(child, folder, signal);
  if (stopped !== undefined) return err(stopped);
  const end = await child.ended;
  if (end.code === 'PROCESS_EXITED' && end.exitCode === 0) return ok(undefined);
  const refused = [...new Set(listRefused())];
  const hosts = refused.length === 0 ? '' : `; it may not connect to ${refused.join(', ')}`;
  return err(`${extractNpmError(output())}${hosts}`);
}

/** No scripts, no links, no programs of the package, and no version control system, which can run programs. */
const FLAGS: readonly string[] = [
  ...['--prefix=.', '--ignore-scripts', '--no-bin-links', '--git=/dev/null', '--omit=dev'],
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--no-progress', '--loglevel=error'],
];

/** The last part of what the process wrote. */
function collectEnd(child: Child): () => string {
  let text = '';
  child.onOutput(() => undefined);
  child.onErrorOutput((chunk) => (text = (text + chunk.toString()).slice(-MAX_STDERR)));
  return () => text;
}

function extractNpmError(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (?:error|ERR!) ?/, ''));
  const own = lines.find(
    (line) => !/^(?:code|errno|syscall|A complete log)\b/.test(line) && line.trim() !== '',
  );
  return own ?? findErrorLine(lines) ?? 'npm failed without saying why';
}

/** Waits until the process has ended. Ends it if it takes too long or too much; the result says why. */
async function waitWithin(child: Child, folder: string, signal: AbortSignal): Promise<string | undefined> {
  const untilMs = performance.now() + LIMIT_MS;
  const limits = { bytes: MAX_BYTES, entries: MAX_ENTRIES };
  for (;;) {
    const end = await waitAtMost(child.ended, MEASURE_MS);
    if (end !== undefined) return (await measureFolder(folder, limits)).isWithin ? undefined : TOO_LARGE;
    const why = signal.aborted
      ? 'it was cancelled'
      : performance.now() > untilMs
        ? `it took longer than ${LIMIT_MS / 1_000} s`
        : (await measureFolder(folder, limits)).isWithin
          ? undefined
          : TOO_LARGE;
    if (why === undefined) continue;
    await child.end();
    return why;
  }
}

const TOO_LARGE = 'the package and its dependencies are larger than 2 GiB or 200,000 files';

/** The command of the package as npx chooses it, and what was fetched. All of it was written in the sandbox. */
async function locateProgram(
  { name, bin, args }: NpxCommand,
  { folder, registry }: { readonly folder: string; readonly registry: string },
): Promise<Result<Omit<FetchedProgram, 'remove'>, string>> {
  const root = join(folder, 'node_modules', name);
  const manifest = await readJson(join(root, 'package.json'), MAX_MANIFEST_BYTES);
  const lock = await readJson(join(folder, 'node_modules', '.package-lock.json'), MAX_LOCK_BYTES);
  const file = chooseBin(manifest, name, bin);
  if (file === undefined)
    return err(
      `the package ${name} has no command${bin === undefined ? ' that npx would start' : ` ${bin}`}`,
    );
  const script = await realpath(resolve(root, file)).catch(() => undefined);
  if (script === undefined || !isInside(script, folder))
    return err(`its command ${file} is not in the package`);
  const isNode = /\.[cm]?js$/.test(script) || /^#![^\n]*\bnode\b/.test(await readStart(script, 200));
  const packages = isJsonObject(lock['packages']) ? lock['packages'] : {};
  const own = packages[`node_modules/${name}`];
  return ok({
    command: [...(isNode ? [process.execPath] : []), script, ...args],
    facts: {
      ...{ name, registry },
      version: toText(manifest['version']),
      integrity: isJsonObject(own) ? toText(own['integrity']) : '',
      skippedScripts: listScripts(packages),
    },
  });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

async function readJson(path: string, maxBytes: number): Promise<JsonObject> {
  // The folder is that of the package, so a link on the way would lead out of it. The sandbox can create none.
  const isDirect = (await realpath(dirname(path)).catch(() => '')) === dirname(path);
  const text = isDirect ? await readTextWithin(path, maxBytes) : undefined;
  return text?.ok === true ? parseObject(text.value) : {};
}

/** The file of the wanted command; else of the only one, or of the one with the name of the package. */
function chooseBin({ bin }: JsonObject, name: string, wanted: string | undefined): string | undefined {
  const own = basename(name);
  if (typeof bin === 'string') return wanted === undefined || wanted === own ? bin : undefined;
  if (!isJsonObject(bin)) return undefined;
  const files = Object.entries(bin).filter((one): one is [string, string] => typeof one[1] === 'string');
  const [only] = files;
  if (wanted === undefined && only !== undefined && new Set(files.map(([, file]) => file)).size === 1)
    return only[1];
  return files.find(([command]) => command === (wanted ?? own))?.[1];
}

/** Packages with scripts of installation, such as `better-sqlite3@12.0.0`. */
function listScripts(packages: JsonObject): readonly string[] {
  return Object.entries(packages)
    .flatMap(([path, facts]) =>
      isJsonObject(facts) && facts['hasInstallScript'] === true
        ? [`${path.replace(/^.*node_modules\//, '')}@${toText(facts['version'])}`]
        : [],
    )
    .slice(0, MAX_SKIPPED);
}
