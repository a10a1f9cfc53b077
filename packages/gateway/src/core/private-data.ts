/*
 * Whether a local server was given private data: by default, results of its reads are private. Judged by its arguments
 * and variables alone, so a server that finds its data by other means needs the tag `private`.
 */

/** Whether arguments or variables name a folder, a file or a database, other than the program itself. */
export function namesPrivateData(args: readonly string[], env: Readonly<Record<string, string>>): boolean {
  return (
    args.some((arg) => partsOf(arg).some(isData)) ||
    Object.entries(env).some(
      ([name, value]) =>
        !IS_ENVIRONMENT.test(name) && (IS_DATABASE_VARIABLE.test(name) || partsOf(value).some(isData)),
    )
  );
}

/** `--root=/data`, `src=/data,dst=/x` and `/a:/b` name several things; a URL is one. */
function partsOf(text: string): readonly string[] {
  const value = text.replace(/^-[\w-]+=/, '');
  if (IS_URL.test(value) || IS_DRIVE.test(value)) return [value];
  return [value, ...value.split(/[,;=:\s]/)];
}

function isData(text: string): boolean {
  if (IS_URL.test(text)) return IS_DATABASE_URL.test(text);
  if (IS_DATABASE_FILE.test(text) || IS_CONNECTION_STRING.test(text)) return true;
  return IS_PATH.test(text) && !IS_PROGRAM.test(text);
}

const IS_URL = /^[a-z][a-z0-9+.-]*:\/\//i;
const IS_DRIVE = /^[a-z]:[\\/]/i;
const IS_PATH = /^(?:[/\\~]|\.{1,2}(?:$|[/\\])|[a-z]:[\\/])/i;
const IS_DATABASE_URL =
  /^(?:file|jdbc|sqlite3?|duckdb|postgres(?:ql)?|mysqlx?|mariadb|mssql|sqlserver|oracle|mongodb|redis|rediss|valkey|clickhouse|neo4j|bolt|cassandra|couchdb|libsql|snowflake|bigquery)(?:[+:][\w+.-]*)?:\/\//i;
const IS_DATABASE_FILE = /\.(?:db|db3|sqlite|sqlite3|duckdb|mdb)$/i;
const IS_CONNECTION_STRING = /(?:^|[\s;])(?:dbname|database|initial catalog|data source)\s*=/i;
const IS_DATABASE_VARIABLE =
  /^(?:PGHOST|PGDATABASE|PGSERVICE|(?:\w+_)?(?:DB|DATABASE|MYSQL|MARIADB|POSTGRES|MONGO|MONGODB|REDIS)_(?:HOST|NAME|DATABASE|URI|URL|DSN))$/i;
/** Code and certificates do not count as data. */
const IS_PROGRAM = /\.(?:[cm]?[jt]sx?|py|rb|sh|bash|pl|php|jar|exe|wasm|pem|crt|cer)$/i;
/** Variables with which programs find themselves and their libraries. */
const IS_ENVIRONMENT =
  /^(?:PATH|HOME|PWD|SHELL|TMPDIR|TMP|TEMP|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|XDG_.+|LD_.+|DYLD_.+|NODE_.+|PYTHON.+|VIRTUAL_ENV|JAVA_.+|GEM_.+|RUBY.+|SSL_CERT_.+|(?:npm|NPM)_CONFIG_.+|(?:UV|PIP|PIPX)_.+)$/i;
