/** A `postgres://` URL whose parts can all be decoded. Undefined for anything else. */
export function parsePostgresUrl(text: string): URL | undefined {
  // PostgreSQL allows an empty host after the user; URLs do not.
  const url = URL.parse(text.replace('@/', '@localhost/'));
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) return undefined;
  const parts = [url.username, url.password, url.hostname, url.pathname];
  return parts.every(isDecodable) ? url : undefined;
}

/** The commands of PostgreSQL that save and restore Assay's tables, without the password, which other users could see. */
export interface PostgresCommands {
  readonly backup: readonly (readonly string[])[];
  readonly restore: readonly (readonly string[])[];
}

const RESTORED = 'assay_restored';

/** Undefined if the URL is invalid. A backup is restored into a new database, so that the present one is kept. */
export function listPostgresCommands(databaseUrl: string, file: string): PostgresCommands | undefined {
  const url = parsePostgresUrl(databaseUrl);
  if (url === undefined) return undefined;
  url.password = '';
  url.searchParams.delete('password');
  const restored = new URL(url);
  restored.pathname = `/${RESTORED}`;
  const plain = ['--no-owner', '--no-privileges'];
  return {
    backup: [
      ['pg_dump', `--dbname=${url.href}`, '--format=custom', ...plain, '--table=assay_*', `--file=${file}`],
    ],
    restore: [
      ['createdb', `--maintenance-db=${url.href}`, RESTORED],
      ['pg_restore', `--dbname=${restored.href}`, ...plain, '--single-transaction', '--exit-on-error', file],
    ],
  };
}

/** False for a password with a bare `%` that should be `%25`. */
function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
