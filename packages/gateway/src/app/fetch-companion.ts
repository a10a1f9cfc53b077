import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../core/refusal.ts';
import type { CompanionName } from '../core/refusals/config-refusals.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { findErrorLine } from '@assay-mcp/kit/stderr-error';
import { VERSION } from '@assay-mcp/kit/version';
import { formatFileError, getErrorCode } from '@assay-mcp/kit/platform/file-error';
import { ensureFolder, readTextNow } from '@assay-mcp/kit/platform/files';
import { findUnsafePath } from '@assay-mcp/kit/platform/path-safety';
import { locateFetched } from './companion.ts';

/** In Assay's folder, written by the release: version and integrity of the packages that belong to this one. */
const RELEASED = 'companions.json';

/**
 * Installs a package from npm into the home. FILE_UNWRITABLE, PATH_UNSAFE, PACKAGE_NOT_FETCHED. Undefined if this build
 * was not released: then nothing tells a genuine package from another.
 */
export function findFetch(
  name: CompanionName,
  environment: ConfigEnvironment,
  from: string = import.meta.dirname,
): (() => Promise<Result<undefined, Refusal>>) | undefined {
  const text = readTextNow(join(from, RELEASED));
  const released = text.ok ? parseObject(text.value)[name] : undefined;
  if (!isJsonObject(released) || released['version'] !== VERSION) return undefined;
  const { integrity } = released;
  if (typeof integrity !== 'string') return undefined;
  return () => fetchCompanion(name, integrity, environment);
}

async function fetchCompanion(
  name: CompanionName,
  integrity: string,
  environment: ConfigEnvironment,
): Promise<Result<undefined, Refusal>> {
  const refuse = (reason: string): Result<never, Refusal> =>
    err({ code: 'PACKAGE_NOT_FETCHED', name, version: VERSION, reason });
  const folder = locateFetched(environment);
  const made = await ensureFolder(folder);
  if (!made.ok) return err({ code: 'FILE_UNWRITABLE', path: folder, reason: made.error.reason });
  const unsafe = findUnsafePath(folder, environment);
  if (unsafe !== undefined) return err(unsafe);
  const draft = await mkdtemp(join(folder, '.fetch-'));
  try {
    const npm = (args: readonly string[], cwd: string): Promise<string | undefined> =>
      runNpm(args, cwd, environment.env);
    const packed = await npm(['pack', `${name}@${VERSION}`, '--ignore-scripts'], draft);
    if (packed !== undefined) return refuse(packed);
    const [tarball = ''] = await readdir(draft);
    const digest = createHash('sha512').update(await readFile(join(draft, tarball)));
    const fetched = `sha512-${digest.digest('base64')}`;
    if (fetched !== integrity)
      return refuse(
        `npm delivered another package than the one released with this Assay (${fetched} instead of ${integrity})`,
      );
    // A relative path has no characters that a shell of Windows would interpret.
    const path = `./${basename(draft)}/${tarball}`;
    const installed = await npm(['install', ...INSTALL_OPTIONS, path], folder);
    return installed === undefined ? ok(undefined) : refuse(installed);
  } catch (error) {
    return refuse(formatFileError(error));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const INSTALL_OPTIONS = ['--prefix', '.', '--ignore-scripts', '--no-audit', '--no-fund'];
const TIME_LIMIT_MS = 300_000;

/** Resolves with why it failed, as a phrase. */
function runNpm(
  args: readonly string[],
  cwd: string,
  env: ConfigEnvironment['env'],
): Promise<string | undefined> {
  // On Windows npm is a script, which only a shell can start.
  const [command = '', ...first] = process.platform === 'win32' ? ['cmd', '/c', 'npm'] : ['npm'];
  return new Promise((resolve) => {
    execFile(command, [...first, ...args], { cwd, env, timeout: TIME_LIMIT_MS }, (error, _, stderr) => {
      if (error === null) resolve(undefined);
      else if (getErrorCode(error) === 'ENOENT') resolve('there is no command "npm"');
      else if (error.killed === true) resolve(`npm took longer than ${TIME_LIMIT_MS / 60_000} minutes`);
      else resolve(findErrorLine(stderr.split('\n')) ?? `npm exited with code ${String(error.code)}`);
    });
  });
}
