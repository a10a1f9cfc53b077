import type { NoiseClass, StateChange, TracedEvent } from '../../verify/observation.ts';
import { findByteCodeSource } from './byte-code.ts';
import type { toPlace } from './layout.ts';
import { findDatabasePath, isGitIndex, isLockName, classifyNoiseByName, classifyNoise } from './noise.ts';
import type { StateReader } from './state.ts';

type Place = ReturnType<typeof toPlace>;
type Reader = Pick<StateReader, 'existed' | 'source'>;

export const CAN_BE_NOISE: ReadonlySet<TracedEvent['kind']> = new Set<TracedEvent['kind']>([
  ...(['write', 'open_to_write', 'content', 'attributes', 'delete', 'create_folder'] as const),
  ...(['delete_folder', 'create_special', 'rename', 'link'] as const),
]);

/** The noise class of a change. */
export async function classifyChangeNoise(
  change: StateChange,
  place: Place,
  reader: Reader,
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

/** Whether a path itself makes changes noise. */
export function isNoisyPlace(place: Place): boolean {
  return place.isTemporary || classifyNoiseByName(place) !== undefined;
}

/** The noise class of what was done to a path. `isNumber`: nothing but numbers was written there. */
export async function classifyEventNoise(
  path: string,
  place: Place,
  { reader, isNumber }: { readonly reader: Reader | undefined; readonly isNumber: boolean },
): Promise<NoiseClass | undefined> {
  if (place.isTemporary) return 'temporary';
  if (isGitIndex(path)) return 'git_index';
  if (isLockName(path) && isNumber) return 'lock';
  if ((await reader?.existed(path)) === true) return undefined;
  const database = findDatabasePath(path);
  if (database === undefined) return classifyNoiseByName(place);
  return (await reader?.source(database))?.isDatabase === true ? 'database' : undefined;
}
