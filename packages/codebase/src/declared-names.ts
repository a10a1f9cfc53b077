import type { ChunkKind } from './source-chunk.ts';

/** Names declared in functions and methods are local to them. */
const WITHOUT_NAMES: ReadonlySet<ChunkKind> = new Set(['function', 'method']);
const MAX_NAMES = 64;
const MAX_LINE_LENGTH = 300;
/** Deeper lines are statements in a body. */
const MAX_INDENT = 4;

/** The names that a chunk declares besides its own: methods of a small class, constants of a block. */
export function findDeclaredNames(kind: ChunkKind, content: string): readonly string[] {
  if (WITHOUT_NAMES.has(kind)) return [];
  const names = new Set<string>();
  for (const line of content.split('\n')) {
    const name = declaredIn(line);
    if (name !== undefined) names.add(name);
    if (names.size >= MAX_NAMES) break;
  }
  return [...names];
}

function declaredIn(line: string): string | undefined {
  const text = line.trimStart();
  if (text === '' || line.length > MAX_LINE_LENGTH || indentOf(line, text) > MAX_INDENT) return undefined;
  const declared = KEYWORD.exec(text)?.[1] ?? ASSIGNMENT.exec(text)?.[1];
  if (declared !== undefined) return declared;
  const method = METHOD.exec(text)?.[1];
  return method === undefined || STATEMENT.test(text) ? undefined : method;
}

function indentOf(line: string, text: string): number {
  const space = line.slice(0, line.length - text.length);
  return space.replaceAll('\t', '    ').length;
}

const NAME = '([\\p{L}_$][\\p{L}\\p{M}\\p{N}_$]*)';
/** `export const NAME`, `def NAME`, `func (r *Reader) NAME`, `#define NAME`. */
const KEYWORD = new RegExp(
  `^(?:[\\w#@]+\\s+){0,5}?#?(?:const|let|var|val|def|class|function|func|fn|fun|type|enum|struct|interface|trait|mod|module|namespace|define|union)[*]?\\s+(?:\\([^)]*\\)\\s*)?(?:self[.])?${NAME}`,
  'u',
);
/** `NAME = `, `exports.NAME = `, `NAME := `, `NAME: Type = `. */
const ASSIGNMENT = new RegExp(`^(?:[\\w$]+[.]){0,4}#?${NAME}\\s*(?::[^=:]{1,80})?(?::=|=(?![=>]))`, 'u');
/** `async NAME(a) {`, `public static void NAME(String a) {`, `void Reader::NAME(`. */
const METHOD = new RegExp(
  `^(?:[\\w<>\\[\\],.*&?~@]+\\s+){0,6}[*&#~]*(?:\\w+::)?${NAME}\\s*(?:<[^>]*>)?\\((?:[^;]*\\{|)$`,
  'u',
);
const STATEMENT =
  /^(?:return|await|if|else|for|foreach|while|switch|catch|throw|new|yield|case|do|try|using|lock|with|not|super)\b/;
