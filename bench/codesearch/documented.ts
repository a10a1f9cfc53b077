// Finds the documentation of functions, and blanks out all documentation, line by line, so that line numbers stay.

export interface Documented {
  /** One-based line of the declaration. */
  readonly line: number;
  /** One-based line on which its documentation starts. */
  readonly from: number;
  /** The first paragraph of the documentation. */
  readonly text: string;
}

export interface Stripped {
  readonly text: string;
  readonly documented: readonly Documented[];
}

export function stripped(text: string, extension: string): Stripped {
  const lines = text.split('\n');
  const strip = extension === 'py' ? python : extension === 'go' ? go : javascript;
  const documented = strip(lines);
  return { text: lines.join('\n'), documented };
}

/** Comments that start with two stars. */
function javascript(lines: string[]): Documented[] {
  const found: Documented[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (!/^\s*\/\*\*(?!\/)/.test(lines[at] ?? '')) continue;
    const end = lines.findIndex(
      (line, index) => index >= at && line.includes('*/', index === at ? line.indexOf('/**') + 3 : 0),
    );
    if (end < 0 || (lines[end] ?? '').replace(/^.*\*\//, '').trim() !== '') continue;
    const doc = lines
      .slice(at, end + 1)
      .map((line) => line.replace(/^\s*(?:\/\*\*|\*(?!\/))?\s?/, '').replace(/\s*\*\/.*$/, ''));
    lines.fill('', at, end + 1);
    const tag = doc.findIndex((line) => /^\s*@/.test(line));
    const declaration = lines.findIndex(
      (line, index) => index > end && line.trim() !== '' && !/^\s*(?:\/\/|@|\/\*.*\*\/\s*$)/.test(line),
    );
    if (declaration >= 0)
      found.push({ line: declaration + 1, from: at + 1, text: paragraph(tag < 0 ? doc : doc.slice(0, tag)) });
    at = end;
  }
  return found;
}

/** Strings that are the first statement of a module, class or function. */
function python(lines: string[]): Documented[] {
  const found: Documented[] = [];
  let before = -1;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '') continue;
    const isFirst = before < 0 || /:\s*(?:#.*)?$/.test(lines[before] ?? '');
    const opening = /^\s*[rRuUbB]{0,2}("""|'''|"|')/.exec(line);
    if (!isFirst || opening === null) {
      if (!/^\s*#/.test(line)) before = at;
      continue;
    }
    const [start, quote = '"'] = opening;
    const end = endOfString(lines, at, { from: start.length, quote });
    if (end === undefined) continue;
    const doc = lines.slice(at, end + 1);
    doc[0] = (doc[0] ?? '').slice(start.length);
    doc[doc.length - 1] = (doc.at(-1) ?? '').replace(new RegExp(`${quote}\\s*(?:#.*)?$`), '');
    lines.fill('', at, end + 1);
    const indent = line.length - line.trimStart().length;
    const header = before < 0 ? -1 : headerOf(lines, before, indent);
    if (header >= 0) found.push({ line: header + 1, from: header + 1, text: paragraph(doc) });
    before = end;
    at = end;
  }
  return found;
}

function endOfString(
  lines: readonly string[],
  at: number,
  { from, quote }: { readonly from: number; readonly quote: string },
): number | undefined {
  const closes = new RegExp(`${quote}\\s*(?:#.*)?$`);
  for (let end = at; end < lines.length; end += 1) {
    const rest = end === at ? (lines[end] ?? '').slice(from) : (lines[end] ?? '');
    if (rest.includes(quote)) return closes.test(rest) ? end : undefined;
    if (quote.length === 1) return undefined;
  }
  return undefined;
}

/** The line of the `def` whose body starts after line `before`; -1 for a class. */
function headerOf(lines: readonly string[], before: number, indent: number): number {
  for (let at = before; at >= 0 && at > before - 40; at -= 1) {
    const header = /^(\s*)(?:(?:async\s+)?(def)|class)\s/.exec(lines[at] ?? '');
    if (header !== null && (header[1] ?? '').length < indent) return header[2] === undefined ? -1 : at;
  }
  return -1;
}

/** Comments right before a top-level declaration. */
function go(lines: string[]): Documented[] {
  const found: Documented[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const name = /^func\s+(?:\([^)]*\)\s*)?(\w+)/.exec(lines[at] ?? '')?.[1];
    if (name === undefined && !/^(?:type|var|const|package)\b/.test(lines[at] ?? '')) continue;
    let from = at;
    while (from > 0 && /^\/\/(?!go:| \+build)/.test(lines[from - 1] ?? '')) from -= 1;
    const doc = lines.slice(from, at).map((line) => line.slice(2));
    lines.fill('', from, at);
    if (name !== undefined && doc.length > 0)
      found.push({
        line: at + 1,
        from: from + 1,
        text: paragraph(doc).replace(new RegExp(`^${name}\\b\\s*`), ''),
      });
  }
  return found;
}

function paragraph(lines: readonly string[]): string {
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0) return '';
  const end = lines.findIndex((line, index) => index > first && line.trim() === '');
  return lines
    .slice(first, end < 0 ? undefined : end)
    .join(' ')
    .replace(/\{@\w+\s+([^}|]*)[^}]*\}/g, '$1')
    .replace(/:\w+:`~?([^`]*)`/g, '$1')
    .replace(/<[^>]+>|[`*]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
