/** PostgreSQL lets the host be absent behind a user, which URLs do not. */
export function withHost(databaseUrl: string): string {
  return databaseUrl.replace('@/', '@localhost/');
}
