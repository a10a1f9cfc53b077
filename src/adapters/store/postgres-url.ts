/** A `postgres://` URL whose parts can all be read; undefined for anything else. */
export function postgresUrl(text: string): URL | undefined {
  // PostgreSQL lets the host be absent behind a user, which URLs do not.
  const url = URL.parse(text.replace('@/', '@localhost/'));
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) return undefined;
  const parts = [url.username, url.password, url.hostname, url.pathname];
  return parts.every(isDecodable) ? url : undefined;
}

/** A `%` in a password that was not written as `%25` makes a URL that nobody can read. */
function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
