import { isDeeper } from './is-deeper.ts';

/** Of JSON text: what is made of it in about a tenth of a second. */
const MOST_CHARACTERS = 24_000;
const DEEPEST = 200;

/** Whether a JSON Schema is small enough for a check to be made of it while others wait. */
export function isCheckable(schema: object): boolean {
  return !isDeeper(schema, DEEPEST) && JSON.stringify(schema).length <= MOST_CHARACTERS;
}
