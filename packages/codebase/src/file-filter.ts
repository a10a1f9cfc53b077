/** Which files a search covers. Absent members do not restrict it. */
export interface FileFilter {
  readonly repositoryId?: string | undefined;
  /** The repositories that may be searched. Undefined: all. */
  readonly repositoryIds?: readonly string[] | undefined;
  /** An extension without the dot, such as `ts`. Case does not matter. */
  readonly fileType?: string | undefined;
  /** A directory relative to the repository, with `/`. Matches whole names: `src/a` does not cover `src/ab`. */
  readonly directory?: string | undefined;
}

export interface SqlConditions {
  /** Conditions joined by AND; `1` if there are none. */
  readonly where: string;
  /** By the name of a parameter. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Conditions on `files` under the alias `f`, for SQLite. Prefixes and suffixes are compared as text, so `%` and `_` in
 * a name match themselves.
 */
export function buildFilterConditions({
  repositoryId,
  repositoryIds,
  fileType,
  directory,
}: FileFilter): SqlConditions {
  const prefix = toDirectoryPrefix(directory);
  const parts: readonly (readonly [sql: string, name: string, value: string | undefined])[] = [
    ['f.repository_id = @repositoryId', 'repositoryId', repositoryId],
    [
      'f.repository_id IN (SELECT value FROM json_each(@repositoryIds))',
      'repositoryIds',
      repositoryIds && JSON.stringify(repositoryIds),
    ],
    ['substr(f.path, 1, length(@prefix)) = @prefix', 'prefix', prefix === '' ? undefined : prefix],
    ['lower(substr(f.path, -length(@suffix))) = @suffix', 'suffix', fileType && `.${fileType.toLowerCase()}`],
  ];
  const given = parts.filter(([, , value]) => value !== undefined);
  return {
    where: given.map(([sql]) => sql).join(' AND ') || '1',
    params: Object.fromEntries(given.map(([, name, value]) => [name, value ?? ''])),
  };
}

/** The directory as a prefix of paths, with a trailing `/`; empty for the whole repository. */
export function toDirectoryPrefix(directory: string | undefined): string {
  const names = (directory ?? '').split(/[\\/]/).filter((name) => name !== '' && name !== '.');
  return names.length === 0 ? '' : `${names.join('/')}/`;
}
