import { createHash } from 'node:crypto';
import { readdir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { readBytesWithin, readTextWithin } from './bounded-file.ts';
import { isFolder } from './files.ts';

/** What is installed of an npm package, judged by its files only. */
export interface Installation {
  readonly version: string;
  /** SHA-256 over the files of the package and of the packages that it depends on, wherever npm placed them. */
  readonly digest: string;
}

interface HashOptions {
  readonly isWanted?: (version: string) => boolean;
  readonly signal?: AbortSignal;
}

interface Budget {
  files: number;
  bytes: number;
}

const MAX_PACKAGES = 3_000;
const MAX_FILES = 60_000;
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Of a file that are hashed in one turn of the event loop. */
const SLICE_BYTES = 1024 * 1024;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const DEPENDENCIES = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const;

/**
 * Reads an installed npm package with its dependencies. Undefined if something is not as npm installs it, cannot be read
 * or exceeds the limits. Where npm placed a dependency does not matter, so an installation for one project, a global one
 * and one of npx have the same digest. Nothing but its `package.json` is read if `isWanted` refuses the version, and no
 * further file once `signal` aborts.
 */
export async function hashInstallation(
  folder: string,
  { isWanted = () => true, signal }: HashOptions = {},
): Promise<Installation | undefined> {
  try {
    const root = await realpath(folder);
    const budget = { files: MAX_FILES, bytes: MAX_BYTES };
    const lines: string[] = [];
    const roots = new Set([root]);
    const { version } = await readManifest(root);
    if (typeof version !== 'string' || !isWanted(version)) return undefined;
    // The set grows while it is read.
    for (const one of roots) {
      if (roots.size > MAX_PACKAGES) return undefined;
      const manifest = await readManifest(one);
      for (const dependency of await dependenciesOf(one, manifest)) roots.add(dependency);
      await addFiles(
        { package: one, label: `${JSON.stringify([manifest['name'], manifest['version']])} ` },
        '',
        {
          ...{ budget, lines, roots, signal },
        },
      );
    }
    const digest = createHash('sha256');
    for (const line of lines.sort()) digest.update(line).update('\n');
    return { version, digest: digest.digest('hex') };
  } catch {
    return undefined;
  }
}

async function readManifest(folder: string): Promise<JsonObject> {
  const text = await readTextWithin(join(folder, 'package.json'), MAX_MANIFEST_BYTES);
  const manifest: unknown = text.ok ? JSON.parse(text.value) : undefined;
  if (!isJsonObject(manifest)) throw new Error(`${folder} has no package.json`);
  return manifest;
}

/** The folders that Node finds for the declared dependencies. An optional one may be absent. */
async function dependenciesOf(folder: string, manifest: JsonObject): Promise<readonly string[]> {
  const names = new Set(
    DEPENDENCIES.flatMap((kind) => {
      const declared = manifest[kind];
      return isJsonObject(declared) ? Object.keys(declared) : [];
    }),
  );
  const found: string[] = [];
  for (const name of names) {
    const place = await findUpward(folder, name);
    if (place !== undefined) found.push(place);
  }
  return found;
}

async function findUpward(from: string, name: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    if (basename(folder) !== 'node_modules') {
      const place = join(folder, 'node_modules', name);
      if (await isFolder(place)) return realpath(place);
    }
    if (folder === dirname(folder)) return undefined;
  }
}

interface Collected {
  readonly budget: Budget;
  readonly signal: AbortSignal | undefined;
  readonly lines: string[];
  /** Grows by packages in folders named node_modules, declared or not: programs can import them. */
  readonly roots: Set<string>;
}

async function addFiles(
  place: { readonly package: string; readonly label: string },
  path: string,
  collected: Collected,
): Promise<void> {
  const { budget, lines, roots, signal } = collected;
  for (const entry of await readdir(join(place.package, path), { withFileTypes: true })) {
    signal?.throwIfAborted();
    if ((budget.files -= 1) < 0) throw new Error('too many files');
    const inside = path === '' ? entry.name : `${path}/${entry.name}`;
    const full = join(place.package, inside);
    if (entry.isDirectory() && entry.name === 'node_modules')
      for (const nested of await packagesIn(full)) roots.add(nested);
    else if (entry.isDirectory()) await addFiles(place, inside, collected);
    else if (entry.isSymbolicLink()) lines.push(`${place.label}${inside} -> ${await readlink(full)}`);
    else {
      const content = await readBytesWithin(full, Math.min(MAX_FILE_BYTES, budget.bytes));
      if (!content.ok) throw new Error(content.error.reason);
      budget.bytes -= content.value.bytes.length;
      lines.push(`${place.label}${inside} ${await hashInSlices(content.value.bytes)}`);
    }
  }
}

async function hashInSlices(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    if (from > 0) await nextTurn();
    hash.update(bytes.subarray(from, from + SLICE_BYTES));
  }
  return hash.digest('hex');
}

async function packagesIn(modules: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await readdir(modules)) {
    // Of npm itself: links to programs, and its own list of what it installed.
    if (name.startsWith('.')) continue;
    const names = name.startsWith('@')
      ? (await readdir(join(modules, name))).map((inner) => join(name, inner))
      : [name];
    for (const one of names)
      if (await isFolder(join(modules, one))) found.push(await realpath(join(modules, one)));
  }
  return found;
}
