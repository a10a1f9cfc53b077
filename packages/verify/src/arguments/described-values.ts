// Values that a text of a server names. The text is cut, and matched by patterns that take linear time.
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { isSecretValue } from './secret-values.ts';

const MAX_TEXT = 2_000;
const MAX_LISTED = 30;
const MAX_EXAMPLES = 4;

/** `"a", "b"`, `'a' | 'b'`, `a, b or c`: the values that a text lists. */
export function splitList(text: string): readonly string[] {
  const line = text.slice(0, 600);
  const quoted = [...line.matchAll(/["'`]([^"'`\n]{1,100})["'`]/g)].map(([, value = '']) => value);
  const head = line.split(/\n\s*\n|\.\s|\.$|;/)[0] ?? '';
  const plain = head
    .split(/,|\||\n|\bor\b|\band\b/)
    .map((part) => part.replaceAll(/^[\s\-*•[(]+|[\s\]).]+$/g, '').replace(/\s*[(:].*$/, ''))
    .filter((part) => /^[\w./:@+-][\w ./:@+-]{0,60}$/.test(part));
  // `access.log app.log`: names, and not words of a sentence.
  const only = plain.length === 1 ? (plain[0] ?? '').split(' ') : [];
  const names = only.length > 1 && only.every((name) => /[\d._-]/.test(name)) ? only : plain;
  return (quoted.length > 0 ? quoted : names).slice(0, MAX_LISTED);
}

/** The allowed values that a description lists. Empty if it lists none. */
export function listChoices({ description }: JsonObject): readonly string[] {
  if (typeof description !== 'string') return [];
  const text = description.slice(0, MAX_TEXT);
  const list =
    /\b(?:one of|(?:valid|allowed|possible|supported|accepted|available) (?:values|options|types|formats|modes|actions|languages|names)|options|values)(?: are)?\s{0,2}[:=([]\s{0,2}([^\n]{1,400})/i.exec(
      text,
    )?.[1];
  const alternatives =
    list ??
    /["'`][\w.-]{1,40}["'`](?: ?(?:[|/,]|,? or) ?["'`][\w.-]{1,40}["'`]){1,20}/.exec(text)?.[0] ??
    /(?<![\w|])[\w-]{2,30}(?:\|[\w-]{2,30}){1,20}/.exec(text)?.[0];
  const values = alternatives === undefined ? [] : splitList(alternatives);
  return values.length > 1 ? values.filter((value) => !value.includes(' ') && !isSecretValue(value)) : [];
}

/** Examples in a description: `(e.g. "main")`, `Example: HEAD~1`, `default: 3`, a value in backticks. */
export function listExamples({ description }: JsonObject): readonly string[] {
  if (typeof description !== 'string') return [];
  const text = description.slice(0, MAX_TEXT);
  const patterns = [
    /(?:e\.g\.?,?|for example:?|examples?:|for instance,?|such as|like|defaults? to|default:)\s*["'`]([^"'`\n]{1,80})["'`]/gi,
    /(?:e\.g\.?,?|for example:?|examples?:)\s+([^\s"'`,;()\n][^"'`,;()\n]{1,60}?)(?=[,;)\n]|\.?$|\.\s)/gi,
    /(?:e\.g\.?,?|for example:?|examples?:|i\.e\.?,?|defaults? to|default:)\s+([\w./:@#-]{1,60}\w)/gi,
    /(?:z\. ?B\.|zum Beispiel|par exemple|p\. ?ex\.|por ejemplo|por exemplo|p\. ?ej\.)[ :]{1,3}["'«„`]?\s?([^\s"'`,;()«»„“\n][^"'`,;()«»„“\n]{0,60}?)(?=\s?["'`,;)»“\n]|\.?$|\.\s)/gi,
    /(?:例如|比如|示例)[^\n:：`"“「]{0,30}[:：]?\s{0,3}[`"“「]?([^\s:：`"”」。，,；;][^`"”」。，,；;\n]{0,60})/g,
    /`([^`\n]{1,80})`/g,
    /"([\w./:@#-]{1,80})"/g,
  ];
  const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, value = '']) => value));
  return [...new Set(found)].filter((value) => value !== '' && !isSecretValue(value)).slice(0, MAX_EXAMPLES);
}
