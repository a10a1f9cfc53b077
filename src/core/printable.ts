/** C0 and C1 controls, DEL, line separators, and what overrides the direction of text; also a lone half of a pair. */
const OBEYED =
  // eslint-disable-next-line no-control-regex -- controls are what this is about
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu;

/** A peer's text for people: nothing in it that a terminal or a log obeys; such characters are shown as `\u001b`. */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
