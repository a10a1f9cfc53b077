/** What an expression may expand to: part of a path segment, what follows a "?", or anything. */
type Gap = 'segment' | 'query' | 'any';

const FORBIDDEN: Readonly<Record<Gap, RegExp>> = { segment: /[/?#]/, query: /\//, any: /(?!)/ };
const WIDTH: readonly Gap[] = ['segment', 'query', 'any'];

/** Literals with the gaps between them. There is one more literal than gaps; literals may be empty. */
interface Parts {
  readonly literals: readonly string[];
  readonly gaps: readonly Gap[];
}

/** The part of a URI that is not matched yet. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/**
 * Whether a URI can be an expansion of a template (RFC 6570). Literals before the last gap of kind `any` are searched
 * from the left, the others from the right: linear in the length of the URI, even for a hostile template.
 */
export function templateFits(template: string, uri: string): boolean {
  const parts = partsOf(template);
  const { literals, gaps } = parts;
  const [first = '', last = ''] = [literals[0], literals.at(-1)];
  if (gaps.length === 0) return uri === first;
  const whole = { from: first.length, to: uri.length - last.length };
  if (whole.to < whole.from || !uri.startsWith(first) || !uri.endsWith(last)) return false;
  const open = gaps.lastIndexOf('any');
  const right = fromRight(parts, uri, { ...whole, open });
  if (right === undefined) return false;
  const rest = fromLeft(parts, uri, { ...right, open });
  if (rest === undefined) return false;
  return open >= 0 || !FORBIDDEN[gaps[0] ?? 'any'].test(uri.slice(rest.from, rest.to));
}

type Search = Window & { readonly open: number };

function fromRight({ literals, gaps }: Parts, uri: string, { from, to, open }: Search): Window | undefined {
  let end = to;
  for (let index = gaps.length - 1; index > Math.max(open, 0); index -= 1) {
    const [literal = '', gap = 'any'] = [literals[index], gaps[index]];
    const found = end - literal.length < from ? -1 : uri.lastIndexOf(literal, end - literal.length);
    if (found < from || FORBIDDEN[gap].test(uri.slice(found + literal.length, end))) return undefined;
    end = found;
  }
  return { from, to: end };
}

function fromLeft({ literals, gaps }: Parts, uri: string, { from, to, open }: Search): Window | undefined {
  let start = from;
  for (let index = 0; index < open; index += 1) {
    const [literal = '', gap = 'any'] = [literals[index + 1], gaps[index]];
    const found = uri.indexOf(literal, start);
    if (found < 0 || found + literal.length > to || FORBIDDEN[gap].test(uri.slice(start, found)))
      return undefined;
    start = found + literal.length;
  }
  return { from: start, to };
}

function partsOf(template: string): Parts {
  const literals: string[] = [''];
  const gaps: Gap[] = [];
  let isOpen = false;
  for (const part of template.split(/(\{[^{}]*\})/)) {
    if (part === '') continue;
    if (part.startsWith('{') && part.endsWith('}')) {
      gaps.push(isOpen ? wider(gaps.pop() ?? 'segment', gapOf(part)) : gapOf(part));
      isOpen = true;
    } else if (isOpen) {
      literals.push(part);
      isOpen = false;
    } else literals.push(`${literals.pop() ?? ''}${part}`);
  }
  if (isOpen) literals.push('');
  return { literals, gaps };
}

function gapOf(expression: string): Gap {
  if (/^\{[+#/]/.test(expression)) return 'any';
  return /^\{[?&;]/.test(expression) ? 'query' : 'segment';
}

function wider(a: Gap, b: Gap): Gap {
  return WIDTH.indexOf(a) > WIDTH.indexOf(b) ? a : b;
}

/** In lower case. Empty if there is none. */
export function getUriScheme(uri: string): string {
  return uri.slice(0, Math.max(uri.indexOf(':'), 0)).toLowerCase();
}
