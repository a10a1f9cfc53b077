import { findByteCodeSource } from './byte-code.ts';
import { classifyNoise, findDatabasePath } from './noise.ts';
import type { NoiseClass, StateChange, StateEntry } from './observation.ts';
import { type Entries, mergeDatabaseLogs } from './sqlite-wal.ts';
import {
  compareEntries,
  OBSERVED_BUDGET,
  type OverlayFolders,
  type State,
  type StateBudget,
  StateReader,
} from './state.ts';

/** Where a path lies, as far as that decides whether a change of it is noise. */
export interface Place {
  /** Inside its overlay, with a leading `/`. */
  readonly path: string;
  readonly isTemporary: boolean;
  readonly isPrivate: boolean;
}

/** How the overlays of a process lie in its file system. */
export interface OverlayMap {
  /** The folder of the innermost overlay that holds a path. */
  readonly folderOf: (path: string) => string | undefined;
  readonly placeOf: (path: string) => Place;
  /** Whether something exists only because something else is mounted at or below it. */
  readonly isMountPoint: (path: string) => boolean;
  /** How much of them one reading may read. By default as much as of an observed server. */
  readonly budget?: Readonly<StateBudget>;
}

/** Finds what changed in overlays from one reading to the next. */
export class OverlayChanges {
  readonly #map: OverlayMap;
  #state: State = new Map();

  constructor(map: OverlayMap) {
    this.#map = map;
  }

  async read(overlays: readonly OverlayFolders[]): Promise<{
    readonly changes: readonly StateChange[];
    readonly isComplete: boolean;
  }> {
    const { folderOf, placeOf, isMountPoint } = this.#map;
    const budget = { ...(this.#map.budget ?? OBSERVED_BUDGET) };
    const changes: StateChange[] = [];
    const next = new Map<string, StateEntry | undefined>();
    let isComplete = true;
    for (const overlay of overlays) {
      const reader = new StateReader(overlay, budget);
      const state = await reader.read();
      for (const [path, entry] of state) next.set(path, entry);
      const entriesAt = async (path: string): Promise<Entries> => {
        const isOriginal = !(state.has(path) && this.#state.has(path));
        const original = isOriginal ? await reader.original(path) : undefined;
        return {
          before: this.#state.has(path) ? this.#state.get(path) : original,
          after: state.has(path) ? state.get(path) : original,
        };
      };
      const known = [...this.#state.keys()].filter((path) => folderOf(path) === overlay.path);
      const own: StateChange[] = [];
      for (const path of new Set([...state.keys(), ...known])) {
        if (isMountPoint(path)) continue;
        const { before, after } = await entriesAt(path);
        const change = compareEntries(path, before, after);
        if (change !== undefined) own.push(change);
      }
      for (const change of await mergeDatabaseLogs(own, entriesAt)) {
        const noise = await classifyChangeNoise(change, placeOf(change.path), reader);
        changes.push(noise === undefined ? change : { ...change, noise });
      }
      isComplete &&= reader.isComplete;
    }
    this.#state = next;
    return { changes: changes.toSorted((a, b) => (a.path < b.path ? -1 : 1)), isComplete };
  }
}

/** The noise class of a change. */
async function classifyChangeNoise(
  change: StateChange,
  place: Place,
  reader: Pick<StateReader, 'existed' | 'source'>,
): Promise<NoiseClass | undefined> {
  if (place.isTemporary) return 'temporary';
  const beside = findDatabasePath(change.path) ?? findByteCodeSource(change.path);
  const source = beside === undefined ? undefined : await reader.source(beside);
  return classifyNoise(change, {
    ...place,
    existed: await reader.existed(change.path),
    source,
  });
}
