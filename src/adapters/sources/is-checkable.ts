/** Of JSON text: what is made of it in about a tenth of a second. */
const MOST_CHARACTERS = 24_000;
const DEEPEST = 200;

/** Whether a JSON Schema is small enough for a check to be made of it while others wait. */
export function isCheckable(schema: object): boolean {
  return depthOf(schema, DEEPEST) <= DEEPEST && JSON.stringify(schema).length <= MOST_CHARACTERS;
}

/** No more than one beyond `most`. */
function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (most === 0) return 1;
  let deepest = 0;
  for (const part of Object.values(value)) {
    deepest = Math.max(deepest, depthOf(part, most - 1));
    if (deepest >= most) break;
  }
  return deepest + 1;
}
