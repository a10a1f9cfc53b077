import type {
  ContentComparison,
  NoiseClass,
  Observation,
  StateChange,
  TracedEvent,
} from '@assay-mcp/sandbox/observation';
import { findHiddenTargets, findNetworkContacts, findServiceContacts } from './contacts.ts';
import { type Effect, createPlainEffect, createUnclearEffect } from './effect.ts';

/** Effects without any call, which say nothing about a tool. */
export interface Background {
  /** Targets of effects at any time. */
  readonly targets: ReadonlySet<string>;
  /**
   * Files that the start of the server changes. Its tools may change them further, as with a database opened at the
   * start.
   */
  readonly startTargets: ReadonlySet<string>;
}

export function collectBackground(
  starting: readonly Observation[],
  idle: Observation,
  folder: SeedFolder,
): Background {
  const first = starting.flatMap((observation) => collectEffects(observation, folder));
  // A host that could not be reached is contacted again whenever a retry is due.
  const contacts = first.filter(({ kind }) => kind === 'network');
  const files = first.filter(({ kind, noise }) => kind !== 'network' && noise === undefined);
  return {
    targets: new Set([...contacts, ...collectEffects(idle, folder)].map(({ target }) => target)),
    startTargets: new Set(files.map(({ target }) => target)),
  };
}

interface SeedFolder {
  /** Folder of the seed data: changes in it are never taken for noise, except by Git itself. */
  readonly seed: string | undefined;
}

/** Effects on files and on the network, in order of time. */
export function collectEffects(observation: Observation, folder: SeedFolder): readonly Effect[] {
  const changes = withMoves(observation.changes, observation, folder);
  const changed = new Set(changes.map(({ target }) => target));
  return [
    ...changes,
    ...transient(observation, changed, folder),
    ...rewritten(observation, changed, folder),
    ...attributes(observation, changed, folder),
    ...indirect(observation),
    ...findServiceContacts(observation),
    ...findHiddenTargets(observation),
    ...findNetworkContacts(observation),
  ].sort((one, other) => one.atMs - other.atMs);
}

/** Whether nothing happened except effects that decide nothing. */
export function isQuiet(observation: Observation, folder: SeedFolder): boolean {
  return collectEffects(observation, folder).every(({ noise }) => noise !== undefined);
}

function withMoves(
  changes: readonly StateChange[],
  observation: Observation,
  folder: SeedFolder,
): readonly Effect[] {
  const created = changes.filter(({ kind }) => kind === 'created');
  const effects = changes.flatMap((change) => {
    if (change.kind === 'touched') return [];
    const moved = change.kind === 'deleted' ? created.find((other) => isSameFile(change, other)) : undefined;
    const noise = noiseOf(change, folder) ?? noiseWithin(change, created, folder);
    const timed = { atMs: timeOf(change, observation), noise };
    if (isSharedMemory(change.path))
      return {
        ...createPlainEffect('hidden', `changed ${change.path}, which other programs share`, change.path),
        ...timed,
        noise: undefined,
      };
    if (moved === undefined) return { ...effectOf(change), ...timed };
    return {
      ...createPlainEffect('moved', `moved ${change.path} to ${moved.path}`, change.path),
      ...timed,
    };
  });
  return effects.filter(({ kind, message }) => kind !== 'changed' || message !== '');
}

/** In a sandbox, as elsewhere, programs share memory through these files. */
function isSharedMemory(path: string): boolean {
  return path.startsWith('/dev/shm/');
}

/** The noise class of a new folder with nothing but noise in it. */
function noiseWithin(
  { kind, path, after }: StateChange,
  created: readonly StateChange[],
  folder: SeedFolder,
): NoiseClass | undefined {
  if (kind !== 'created' || after?.type !== 'folder') return undefined;
  const content = created.filter((one) => one.after?.type !== 'folder' && one.path.startsWith(`${path}/`));
  const classes = content.map((one) => noiseOf(one, folder));
  return classes.includes(undefined) ? undefined : classes[0];
}

function isSameFile({ before }: StateChange, { after }: StateChange): boolean {
  return (
    before?.type === 'file' &&
    after?.type === 'file' &&
    before.size > 0 &&
    before.digest !== undefined &&
    before.digest === after.digest
  );
}

function effectOf(change: StateChange): Omit<Effect, 'atMs' | 'noise'> {
  const { kind, path, before, after } = change;
  if (kind === 'rewritten') return createUnclearEffect('rewritten', rewrittenText(path), path);
  // What a log that cannot be read holds, or held, of the database is unknown.
  if (change.isLog === true) return createUnclearEffect('changed', `changed ${path}`, path);
  if (kind === 'created') return createPlainEffect('added', `created ${path}`, path);
  if (kind === 'deleted') return createPlainEffect('deleted', `deleted ${path}`, path);
  if (kind === 'replaced')
    return createPlainEffect(
      'overwritten',
      `replaced ${path} by a ${after?.type ?? 'different entry'}`,
      path,
    );
  if (before?.type === 'link' || after?.type === 'link')
    return createPlainEffect('overwritten', `changed the target of ${path}`, path);
  if (before?.type !== 'file' || after?.type !== 'file')
    return createPlainEffect('changed', `changed the permissions of ${path}`, path);
  if (before.digest !== undefined && before.digest === after.digest)
    return createUnclearEffect(
      'changed',
      before.mode === after.mode ? '' : `changed the permissions of ${path}`,
      path,
    );
  return contentEffect(path, change.comparison);
}

/** Files that Git rewrites with every commit or checkout, and whose former content its objects and logs keep. Not tags. */
const GIT_STATE = /\/[.]git\/(?:index|[A-Z_]*HEAD|[A-Z]+_EDITMSG|refs\/(?!tags\/).+|logs\/.+)$/;

function contentEffect(
  path: string,
  compared: ContentComparison | undefined,
): Omit<Effect, 'atMs' | 'noise'> {
  if (compared === undefined || GIT_STATE.test(path))
    return createUnclearEffect('changed', `changed ${path}`, path);
  if (compared.format === 'unknown')
    return createUnclearEffect(
      'changed',
      `changed ${path} (what was lost is unknown: ${compared.why})`,
      path,
    );
  const { isAdditive, isTimestamps } = compared;
  if (isAdditive === 'unknown')
    return {
      ...createPlainEffect(
        'changed',
        `changed ${path} (existing content kept, except states and rows of an index)`,
        path,
      ),
      ...{ isTimestamps, isUnclear: true },
    };
  const [effect, verb] = isAdditive
    ? (['added', 'added to'] as const)
    : (['overwritten', 'overwrote'] as const);
  return { ...createPlainEffect(effect, `${verb} ${path}${detail(compared)}`, path), isTimestamps };
}

type Compared = Exclude<ContentComparison, { readonly format: 'unknown' }>;

const UNITS: Readonly<Record<Compared['format'], string>> = {
  bytes: 'content',
  lines: 'lines',
  json: 'JSON values',
  json_lines: 'JSON records',
  sqlite: 'rows',
};

function detail({ format, isAdditive, isTimestamps }: Compared): string {
  if (isTimestamps) return ' (timestamps only)';
  return isAdditive ? ` (existing ${UNITS[format]} kept)` : ` (existing ${UNITS[format]} changed or lost)`;
}

/** The first successful event on the path, else the end of the observation. */
function timeOf({ path }: StateChange, { events, untilMs }: Observation): number {
  const event = events.find(
    (one) =>
      one.error === undefined && (('path' in one && one.path === path) || ('to' in one && one.to === path)),
  );
  return event?.atMs ?? untilMs;
}

interface Removal {
  readonly kind: 'delete' | 'rename';
  readonly path: string;
  /** The path at which nothing is left, or something was replaced. */
  readonly target: string;
  readonly atMs: number;
  readonly noise?: NoiseClass | undefined;
}

function removalsIn(events: readonly TracedEvent[]): readonly Removal[] {
  return events.flatMap((event): readonly Removal[] => {
    if (event.error !== undefined || 'isIndirect' in event) return [];
    const { atMs } = event;
    if (event.kind === 'rename')
      return [
        {
          kind: 'rename',
          path: event.path,
          target: event.to,
          atMs,
          noise: event.noise,
        },
      ];
    if (event.kind !== 'delete' && event.kind !== 'delete_folder') return [];
    return [
      {
        kind: 'delete',
        path: event.path,
        target: event.path,
        atMs,
        noise: event.noise,
      },
    ];
  });
}

/** Files and folders that were created and deleted again, and files that were replaced by the same content. */
function transient(
  { events, changes }: Observation,
  changed: ReadonlySet<string>,
  folder: SeedFolder,
): readonly Effect[] {
  const known = new Set([...changed, ...changes.map(({ path }) => path)]);
  const found = new Map<string, Effect>();
  const removals = removalsIn(events);
  for (const { kind, path, target, atMs, noise } of removals) {
    // A temporary file that ended up as a changed file is part of that change.
    if (known.has(target) || known.has(path) || found.has(target)) continue;
    if (kind === 'delete' && removals.some((other) => other.kind === 'rename' && other.path === path))
      continue;
    const message =
      kind === 'rename' ? `replaced ${target} by the same content` : `created and deleted ${target}`;
    found.set(target, {
      ...createPlainEffect('transient', message, target),
      atMs,
      // Removed at once, it serves the processes of the server itself.
      noise: isSharedMemory(target) ? 'temporary' : noiseOf({ path: target, noise }, folder),
    });
  }
  return [...found.values()];
}

/** Files that were written although nothing in them differs, so that they may have been changed and restored. */
function rewritten(
  { events, changes }: Observation,
  changed: ReadonlySet<string>,
  folder: SeedFolder,
): readonly Effect[] {
  const removed = removalsIn(events).flatMap(({ path, target }) => [path, target]);
  const known = new Set([...changed, ...changes.map(({ path }) => path), ...removed]);
  return events.flatMap((event): readonly Effect[] => {
    if (event.kind !== 'content' || event.error !== undefined || known.has(event.path)) return [];
    if (event.isIndirect) return [];
    const { path, atMs } = event;
    return [
      {
        ...createPlainEffect('rewritten', rewrittenText(path), path),
        atMs,
        noise: noiseOf(event, folder),
      },
    ];
  });
}

/**
 * Changes of times, permissions, owners and extended attributes that are not part of another change. Of a file whose
 * time differs although it was only written, the content may have been changed and restored.
 */
function attributes(
  { events, changes, untilMs }: Observation,
  changed: ReadonlySet<string>,
  folder: SeedFolder,
): readonly Effect[] {
  const touched = new Map(changes.flatMap((one) => (one.kind === 'touched' ? [[one.path, one]] : [])));
  const others = changes.flatMap(({ kind, path }) => (kind === 'touched' ? [] : [path]));
  const known = new Set([
    ...changed,
    ...others,
    ...removalsIn(events).flatMap(({ path, target }) => [path, target]),
  ]);
  const found = new Map<string, Effect>();
  for (const event of events) {
    if (event.kind !== 'attributes' || event.error !== undefined || known.has(event.path)) continue;
    if (event.isIndirect) continue;
    const { path, atMs, call } = event;
    const isTimes = touched.has(path) && TIMES.has(call);
    if (found.has(path) && !isTimes && !EXTENDED.has(call)) continue;
    found.set(path, { ...attributeEffect(path, call, isTimes), atMs, noise: noiseOf(event, folder) });
  }
  for (const { path, noise } of touched.values()) {
    if (known.has(path) || found.has(path)) continue;
    const effect = createPlainEffect('rewritten', rewrittenText(path), path);
    found.set(path, { ...effect, atMs: untilMs, noise: noiseOf({ path, noise }, folder) });
  }
  return [...found.values()];
}

const TIMES: ReadonlySet<string> = new Set(['utimensat', 'utimes', 'utime', 'futimesat']);
const EXTENDED: ReadonlySet<string> = new Set([
  ...['setxattr', 'lsetxattr', 'fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr'],
]);

function attributeEffect(path: string, call: string, isTimes: boolean): Omit<Effect, 'atMs' | 'noise'> {
  if (isTimes)
    return { ...createPlainEffect('changed', `changed the times of ${path}`, path), isTimestamps: true };
  // The values of extended attributes are not compared.
  if (EXTENDED.has(call)) return createUnclearEffect('changed', `set extended attributes of ${path}`, path);
  return createPlainEffect('rewritten', `set attributes of ${path} without a visible change`, path);
}

/** Calls on paths that may lead elsewhere: to which file, and whether that was changed and restored, is unknown. */
function indirect({ events }: Observation): readonly Effect[] {
  const found = new Map<string, Effect>();
  for (const event of events) {
    if (!('isIndirect' in event) || event.error !== undefined) continue;
    const { path, atMs, call } = event;
    const target = path.replace(PROCESS, '/proc/self').replace(DESCRIPTOR, '$1');
    if (found.has(target)) continue;
    const effect = createUnclearEffect(
      'rewritten',
      `called ${call} on ${path}, which may lead elsewhere`,
      target,
    );
    found.set(target, { ...effect, atMs, noise: undefined });
  }
  return [...found.values()];
}

/** Ids and numbers that differ from run to run. */
const PROCESS = /^\/proc\/(?:\d+|thread-self)(?:\/task\/\d+)?/;
const DESCRIPTOR = /^(\/proc\/self\/fd|\/dev\/fd)\/\d+/;

function rewrittenText(path: string): string {
  return `wrote to ${path} without a visible change`;
}

/** Classes that content has shown, and not only a name. */
const SHOWN: ReadonlySet<NoiseClass> = new Set<NoiseClass>(['lock', 'git_index', 'byte_code', 'database']);

/** The noise class given by the sandbox. In the seed data, which stands for the user's data, a name is not enough. */
function noiseOf(
  { path, noise }: { readonly path: string; readonly noise?: NoiseClass | undefined },
  { seed }: SeedFolder,
): NoiseClass | undefined {
  const isInSeed = seed !== undefined && path.startsWith(`${seed}/`);
  return noise === undefined || SHOWN.has(noise) || !isInSeed ? noise : undefined;
}
