/** Objects and lists inside each other: no answer that anybody works with has more, and stacks end at a few thousand. */
export const MOST_LEVELS = 1_000;

/** Whether a JSON text nests deeper than `MOST_LEVELS`. Looked at as text: to read it may take more stack than there is. */
export function nestsTooDeeply(text: string): boolean {
  let level = 0;
  for (const [mark] of text.matchAll(MARKS)) {
    if (mark === '[' || mark === '{') level += 1;
    else if (mark === ']' || mark === '}') level -= 1;
    if (level > MOST_LEVELS) return true;
  }
  return false;
}

/** What is within a string is none. */
const MARKS = /[[\]{}]|"[^"\\]*(?:\\[^][^"\\]*)*"?/g;
