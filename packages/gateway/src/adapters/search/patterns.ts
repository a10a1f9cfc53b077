import { ENDINGS } from './synonyms.ts';

/** What values in a query are, by their form. The text of one that `isData` says nothing else. */
const PATTERNS: readonly { readonly pattern: RegExp; readonly meaning: string; readonly isData: boolean }[] =
  [
    { pattern: /\bhttps?:\/\/\S+/gi, meaning: 'url|page|website', isData: true },
    {
      pattern: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}/g,
      meaning: 'email|address|recipient',
      isData: true,
    },
    {
      pattern: /(?<![\w.])-?\d{1,3}\.\d{1,9}°?,? ?-?\d{1,3}\.\d{1,9}(?![\w.])/g,
      meaning: 'coordinates|latitude|longitude',
      isData: true,
    },
    { pattern: /\b\d{4}-\d\d-\d\d\b/g, meaning: 'date', isData: true },
    { pattern: /(?<![\w#])#\d{1,9}\b/g, meaning: 'issue|request|number', isData: true },
    { pattern: /(?<![\w#])#\p{L}[\w-]{1,64}/gu, meaning: 'channel|tag', isData: false },
    { pattern: /(?<![\w@.])@\p{L}[\w-]{1,64}/gu, meaning: 'user|member|account', isData: false },
    { pattern: /\b\w{1,64}\(\)/g, meaning: 'code|function|search', isData: false },
    { pattern: /(?<=\s)\p{Ll}{2,64}\p{Lu}\w{1,64}/gu, meaning: 'code|function|search', isData: false },
  ];
const ENDING = /(?<=[\p{L}\p{N}_-])\.([a-z0-9]{1,6})(?![\p{L}\p{N}])/gu;

/** What the values in a query mean, and the query without those that say nothing else. */
export function readValues(query: string): { readonly text: string; readonly meanings: readonly string[] } {
  const meanings: string[] = [];
  let text = query;
  for (const { pattern, meaning, isData } of PATTERNS) {
    if (text.search(pattern) < 0) continue;
    meanings.push(meaning);
    if (isData) text = text.replace(pattern, ' ');
  }
  for (const [, ending = ''] of text.toLowerCase().matchAll(ENDING)) {
    const meaning = ENDINGS.get(ending);
    if (meaning !== undefined && !meanings.includes(meaning)) meanings.push(meaning);
  }
  return { text, meanings };
}
