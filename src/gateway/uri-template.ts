/** What an expression may expand to: anything, a part of a path segment, or what follows a "?". */
type Gap = 'none' | 'segment' | 'query' | 'any';

const FORBIDDEN: Readonly<Record<Gap, RegExp>> = { none: /[^]/, segment: /[/?#]/, query: /\//, any: /$^/ };
const WIDTH: readonly Gap[] = ['none', 'segment', 'query', 'any'];

/**
 * Whether a URI can be an expansion of a template (RFC 6570). Takes each literal at its first place, the last one at
 * the end: linear in the length of the URI, whatever a hostile template looks like.
 */
export function templateFits(template: string, uri: string): boolean {
  const parts = template.split(/(\{[^{}]*\})/).filter((part) => part !== '');
  let at = 0;
  let gap: Gap = 'none';
  for (const [index, part] of parts.entries()) {
    if (isExpression(part)) {
      gap = wider(gap, gapOf(part));
      continue;
    }
    const isLast = index === parts.length - 1;
    const found = gap === 'none' ? at : isLast ? uri.length - part.length : uri.indexOf(part, at);
    if (found < at || !uri.startsWith(part, found) || FORBIDDEN[gap].test(uri.slice(at, found))) return false;
    at = found + part.length;
    gap = 'none';
  }
  return !FORBIDDEN[gap].test(uri.slice(at));
}

function isExpression(part: string): boolean {
  return part.startsWith('{') && part.endsWith('}');
}

function gapOf(expression: string): Gap {
  if (/^\{[+#/]/.test(expression)) return 'any';
  return /^\{[?&;]/.test(expression) ? 'query' : 'segment';
}

function wider(a: Gap, b: Gap): Gap {
  return WIDTH.indexOf(a) > WIDTH.indexOf(b) ? a : b;
}
