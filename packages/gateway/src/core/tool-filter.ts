/** Which tools of a server clients may see, by the server's own names. Patterns may contain `*` for any characters. */
export interface ToolFilter {
  /** Undefined allows all. */
  readonly allow?: readonly string[] | undefined;
  /** Takes precedence over `allow`. */
  readonly deny?: readonly string[] | undefined;
}

/** Whether the filter lets this tool through. */
export function allowsTool({ allow, deny }: ToolFilter, name: string): boolean {
  const isNamed = (patterns: readonly string[]): boolean => patterns.some((one) => matchesGlob(one, name));
  return (allow === undefined || isNamed(allow)) && (deny === undefined || !isNamed(deny));
}

export function isSameFilter(one: ToolFilter = {}, other: ToolFilter = {}): boolean {
  return JSON.stringify([one.allow, one.deny]) === JSON.stringify([other.allow, other.deny]);
}

/** Patterns that match none of these names, perhaps because they are misspelt. */
export function findUnusedPatterns(
  { allow = [], deny = [] }: ToolFilter,
  names: readonly string[],
): readonly string[] {
  return [...allow, ...deny].filter((pattern) => !names.some((name) => matchesGlob(pattern, name)));
}

/** Matches in time linear in each segment: after a `*`, the first match of the next segment is as good as any. */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const segment of rest) {
    const at = text.indexOf(segment, from);
    if (at < 0) return false;
    from = at + segment.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
