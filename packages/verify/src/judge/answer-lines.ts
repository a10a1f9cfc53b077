import { isJsonObject, type JsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { splitName } from '../arguments/tool-words.ts';

/** What an answer lists: how often it has each line, with numbers left out, since counters and times change anyway. */
export type AnswerLines = ReadonlyMap<string, number>;

const MAX_LINES = 2_000;
const MAX_TEXT = 256 * 1024;
const MAX_DEPTH = 8;
/** Parts of answers that describe the use of a server and not its data, by the names of tools and members. */
const ABOUT_USE =
  /(?:^|[^a-z])(?:stat(?:s|istics|us)?|metrics?|usage|cached?|caches|log(?:s|ged)?|histor(?:y|ies)|recent(?:ly)?|last|sessions?|calls?|hits?|access(?:ed)?|activit(?:y|ies)|uptime|time(?:stamp)?|at|health|quer(?:y|ies)|seen|views?|viewed)(?:$|[^a-z])/i;

/** Whether a tool shows how its server is used, which any call may change. */
export function isAboutUse(name: string): boolean {
  return ABOUT_USE.test(splitName(name).join(' '));
}

/** Undefined if the answer is no result, or is too large. */
export function readAnswerLines(result: JsonObject | undefined): AnswerLines | undefined {
  if (result === undefined || result['isError'] === true) return undefined;
  const lines: string[] = [];
  const structured = result['structuredContent'];
  if (structured !== undefined) walk(structured, '', { lines, depth: 0 });
  else
    for (const block of Array.isArray(result['content']) ? result['content'] : []) {
      const text: unknown = isJsonObject(block) ? block['text'] : undefined;
      if (typeof text !== 'string') continue;
      if (text.length > MAX_TEXT) return undefined;
      const value = parseJson(text);
      if (typeof value === 'object' && value !== null) walk(value, '', { lines, depth: 0 });
      else lines.push(...text.split('\n').map((line) => line.trim()));
    }
  if (lines.length > MAX_LINES) return undefined;
  const counted = new Map<string, number>();
  for (const line of lines.map(withoutNumbers).filter((one) => /\p{L}/u.test(one)))
    counted.set(line, (counted.get(line) ?? 0) + 1);
  return counted;
}

/** One line for each text, with the names of the members that lead to it. The order of a list does not count. */
function walk(value: unknown, path: string, out: { readonly lines: string[]; readonly depth: number }): void {
  const { lines, depth } = out;
  if (depth > MAX_DEPTH || lines.length > MAX_LINES) return;
  const deeper = { lines, depth: depth + 1 };
  if (Array.isArray(value)) for (const one of value) walk(one, path, deeper);
  else if (isJsonObject(value))
    for (const [key, one] of Object.entries(value)) {
      if (!isAboutUse(key)) walk(one, path === '' ? key : `${path}.${key}`, deeper);
    }
  else if (typeof value === 'string') lines.push(path === '' ? value : `${path}: ${value}`);
}

function withoutNumbers(line: string): string {
  return line.replaceAll(/\d+/g, '#').slice(0, 300);
}

export interface LineDifference {
  readonly gone: readonly string[];
  readonly added: readonly string[];
}

/** What one answer has more often than the other. */
export function compareLines(before: AnswerLines, after: AnswerLines): LineDifference {
  const more = (one: AnswerLines, other: AnswerLines): readonly string[] =>
    [...one].flatMap(([line, count]) => (count > (other.get(line) ?? 0) ? [line] : []));
  return { gone: more(before, after), added: more(after, before) };
}

export function isDifferent({ gone, added }: LineDifference): boolean {
  return gone.length + added.length > 0;
}
