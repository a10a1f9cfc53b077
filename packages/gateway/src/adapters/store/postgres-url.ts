/** A `postgres://` URL whose parts can all be decoded. Undefined for anything else. */
export function parsePostgresUrl(text: string): URL | undefined {
  // PostgreSQL allows an empty host after the user; URLs do not.
  const url = URL.parse(text.replace('@/', '@localhost/'));
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol)) return undefined;
  const parts = [url.username, url.password, url.hostname, url.pathname];
  return parts.every(isDecodable) ? url : undefined;
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
