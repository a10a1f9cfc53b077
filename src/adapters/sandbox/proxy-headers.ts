/** Headers that belong to one connection (RFC 9110, section 7.6.1), and those of HTTP proxies. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Characters that Node parses in a header value but refuses to write. */
const UNWRITABLE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The headers that a proxy passes on: all but those that belong to one connection, by their own name or because
 * `Connection` names them. Those that Node could not write are left out too. `raw`: alternating names and values, as Node parsed them.
 */
export function selectEndToEndHeaders(raw: readonly string[]): Record<string, string[]> {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at): [name: string, value: string] => [
    (raw[2 * at] ?? '').toLowerCase(),
    raw[2 * at + 1] ?? '',
  ]);
  const named = new Set(
    pairs.flatMap(([name, value]) =>
      name === 'connection' ? value.split(',').map((token) => token.trim().toLowerCase()) : [],
    ),
  );
  // Without a prototype: a peer may send a header that is called `__proto__`.
  const passed = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of pairs)
    if (!HOP_BY_HOP.has(name) && !named.has(name) && !UNWRITABLE.test(value))
      (passed[name] ??= []).push(value);
  return passed;
}
