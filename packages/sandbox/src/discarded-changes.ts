import { lstat, mkdtemp, open, realpath, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isInside } from '@assay-mcp/kit/platform/is-inside';
import type { Child, ChildOptions } from '@assay-mcp/kit/platform/child';
import { pause, waitAtMost } from '@assay-mcp/kit/platform/pause';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import type { Shown } from './confined-view.ts';
import type { DiscardedFiles, DiscardedLook } from './denial.ts';
import { FolderVersion } from './folder-version.ts';
import { readMounts } from './mountinfo.ts';
import { OverlayChanges } from './overlay-changes.ts';
import { buildUnshareArgs } from './setup-script.ts';
import { type OverlayFolders, TWIN_BUDGET } from './state.ts';

/** How this machine mounts overlays for a confined process. */
export interface OverlayMeans {
  /** Absolute path. */
  readonly unshare: string;
  /** True as root; else in a user namespace, in which only this user's files can be changed. */
  readonly isPrivileged: boolean;
}

const SEARCHED = process.env['PATH'] ?? '';
const UPPER_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 50_000;
const POLL_MS = 3;
const START_LIMIT_MS = 10_000;
/** A process has started when it changes nothing for this time in ms, or after the limit. */
const QUIET_MS = 200;
const SETTLE_LIMIT_MS = 3_000;

interface Area extends Shown {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Overlays over folders: a process sees them as they are and may change them, but all changes are kept in memory, and
 * are gone when it ends. Nothing of the real folders is ever changed (docs/adr/0120).
 */
export class DiscardedChanges implements DiscardedFiles {
  readonly #folder: string;
  readonly #areas: readonly Area[];
  readonly #means: OverlayMeans;
  readonly #hidden: readonly string[];
  readonly #version: FolderVersion;
  readonly #changes: OverlayChanges;
  #overlays: Promise<readonly OverlayFolders[]> = Promise.resolve([]);
  /** What it has changed without a call. Undefined before the first look. */
  #ofStart: Set<string> | undefined;
  readonly #handles: FileHandle[] = [];
  #reading: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  private constructor(
    parts: {
      readonly folder: string;
      readonly areas: readonly Area[];
      readonly version: FolderVersion;
      readonly hidden: readonly string[];
    },
    means: OverlayMeans,
  ) {
    this.#folder = parts.folder;
    this.#areas = parts.areas;
    this.#hidden = parts.hidden;
    this.#version = parts.version;
    this.#means = means;
    const folderOf = (path: string): string | undefined =>
      this.#areas.findLast((area) => isInside(path, area.path))?.path;
    this.#changes = new OverlayChanges({
      folderOf,
      placeOf: (path) => ({
        path: path.slice(folderOf(path)?.length ?? 0),
        isTemporary: false,
        isPrivate: false,
      }),
      isMountPoint: (path) => this.#areas.some((area) => isInside(area.path, path)),
      budget: TWIN_BUDGET,
    });
  }

  /** `roots`: those that are files stay read-only. `hidden`: real paths that the process cannot see. */
  static async open(
    roots: readonly Shown[],
    means: OverlayMeans,
    hidden: readonly string[] = [],
  ): Promise<DiscardedChanges> {
    const byDepth = roots.toSorted((a, b) => a.path.length - b.path.length);
    const areas = await Promise.all(
      byDepth.map(async (root): Promise<readonly Area[]> => {
        const facts = await lstat(root.from).catch(() => undefined);
        if (facts?.isDirectory() !== true) return [];
        return [{ ...root, mode: facts.mode & 0o7777, uid: facts.uid, gid: facts.gid }];
      }),
    );
    // What changes from here on makes the process outdated.
    const version = await FolderVersion.read(areas.flat().map(({ from }) => from));
    const folder = await mkdtemp(join(await realpath(tmpdir()), 'assay-overlay-'));
    await promisify(execFile)('mkfifo', ['-m', '600', join(folder, 'go')]);
    return new DiscardedChanges({ folder, areas: areas.flat(), version, hidden: [...hidden, folder] }, means);
  }

  /** Private to Assay: the changes are below it. */
  get folder(): string {
    return this.#folder;
  }

  /** Where the folders with their changes are mounted, by the path at which the process is to see them. */
  get mounts(): ReadonlyMap<string, string> {
    return new Map(this.#areas.map(({ path }, n) => [path, join(this.#folder, 'w', 'm', String(n))]));
  }

  /** The same command, started where the overlays are mounted. It waits for `hold`. */
  wrap(options: ChildOptions): ChildOptions {
    const { unshare, isPrivileged } = this.#means;
    const script = buildOverlayScript({ folder: this.#folder, areas: this.#areas, isPrivileged });
    const args = [...buildUnshareArgs(isPrivileged), '/bin/sh', '-c', script, 'sh', options.command];
    return { ...options, command: unshare, args: [...args, ...options.args] };
  }

  /** To be called once with the process. Keeps its changes readable, and then lets it start. */
  hold(child: Pick<Child, 'pid' | 'ended'>): void {
    this.#overlays = this.#hold(child);
    this.#overlays.catch(() => undefined); // `look` reports it
    void child.ended.then(() => this.close());
  }

  async isOutdated(): Promise<boolean> {
    return !(await this.#version.isCurrent());
  }

  look(): Promise<DiscardedLook> {
    const looked = this.#reading.then(() => this.#look());
    this.#reading = looked.catch(() => undefined);
    return looked;
  }

  async settle(signal: AbortSignal): Promise<void> {
    const giveUp = AbortSignal.any([signal, AbortSignal.timeout(SETTLE_LIMIT_MS)]);
    while (!giveUp.aborted) {
      const isFirst = this.#ofStart === undefined;
      const { changes } = await this.look();
      if (changes.length === 0 && !isFirst) return;
      for (const { path } of changes) this.#ofStart?.add(path);
      await pause(QUIET_MS, giveUp);
    }
  }

  async #look(): Promise<DiscardedLook> {
    const overlays = await this.#overlays.catch(() => []);
    if (this.#isClosed || overlays.length < this.#areas.length) return { changes: [], isComplete: false };
    const { changes, isComplete } = await this.#changes.read(overlays);
    const counted = changes.filter(({ noise, kind }) => noise === undefined && kind !== 'rewritten');
    this.#ofStart ??= new Set(changes.map(({ path }) => path));
    const ofStart = this.#ofStart;
    return {
      isComplete,
      changes: counted.map(({ path, kind, isLog }) => ({
        path,
        isCertain: kind !== 'touched' && isLog !== true && !ofStart.has(path),
      })),
    };
  }

  async #hold({ pid, ended }: Pick<Child, 'pid' | 'ended'>): Promise<readonly OverlayFolders[]> {
    const inside = `/proc/${pid ?? 0}/root${this.#folder}/w`;
    const status = { hasEnded: false };
    void ended.then(() => (status.hasEnded = true));
    const deadlineMs = performance.now() + START_LIMIT_MS;
    for (;;) {
      if (status.hasEnded || performance.now() > deadlineMs) return [];
      if ((await lstat(`${inside}/ready`).catch(() => undefined)) !== undefined) break;
      await pause(POLL_MS);
    }
    const hold = async (path: string): Promise<string> => {
      const handle = await open(path);
      this.#handles.push(handle);
      return `/proc/self/fd/${handle.fd}`;
    };
    const state = await hold(inside);
    const overlays: OverlayFolders[] = [];
    for (const [n, { path, from }] of this.#areas.entries())
      overlays.push({
        path,
        lower: from,
        hidden: this.#hidden.filter((one) => one !== from && isInside(one, from)),
        upper: `${state}/s/${n}/u`,
        merged: await hold(`${inside}/m/${n}`),
      });
    // Opened to read and write, it does not wait for the other side.
    const go = await open(join(this.#folder, 'go'), 'r+');
    this.#handles.push(go);
    await go.write('\n');
    return overlays;
  }

  /** To be called by itself only if no process was started. */
  async close(): Promise<void> {
    await waitAtMost(
      this.#overlays.catch(() => undefined),
      START_LIMIT_MS,
    );
    await this.#reading;
    this.#isClosed = true;
    await Promise.all(this.#handles.map((handle) => handle.close().catch(() => undefined)));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

interface OverlayScript {
  readonly folder: string;
  readonly areas: readonly Area[];
  readonly isPrivileged: boolean;
}

/** Mounts the overlays on a private tmpfs, waits for a line in the FIFO `go`, and becomes the process. */
function buildOverlayScript({ folder, areas, isPrivileged }: OverlayScript): string {
  const options = isPrivileged ? 'redirect_dir=on,metacopy=off' : 'userxattr';
  return [
    'set -eu',
    // The PATH of the process may lack these programs, and must not choose them.
    'path=$PATH mask=$(umask)',
    `PATH=${quoteShellArgument(`${SEARCHED}:/usr/sbin:/usr/bin:/sbin:/bin`)}`,
    'umask 077',
    `cd ${quoteShellArgument(folder)}`,
    'mkdir w',
    `mount -t tmpfs -o size=${UPPER_BYTES},nr_inodes=${MAX_FILES},mode=700 assay w`,
    'mkdir w/l w/s w/m',
    ...areas.flatMap((area, n) => [
      `mkdir w/l/${n} w/s/${n} w/s/${n}/w w/m/${n}`,
      `mkdir -m ${area.mode.toString(8)} w/s/${n}/u`,
      ...(isPrivileged ? [`chown ${area.uid}:${area.gid} w/s/${n}/u`] : []),
      `mount --rbind -- ${quoteShellArgument(area.from)} w/l/${n}`,
      `mount -t overlay -o lowerdir=w/l/${n},upperdir=w/s/${n}/u,workdir=w/s/${n}/w,${options} assay w/m/${n}`,
    ]),
    ': >w/ready',
    'read -r line <go',
    'umask "$mask"',
    'cd /',
    'PATH=$path',
    'exec "$@"',
  ].join('\n');
}

/** Mount points below a folder. An overlay shows them empty, so they are to be shown besides it. */
export async function findMountsBelow(folders: readonly string[]): Promise<readonly string[]> {
  const points = (await readMounts()).map(({ path }) => path);
  return [...new Set(points)].filter((point) =>
    folders.some((folder) => point !== folder && isInside(point, folder)),
  );
}
