const DIGITS = /^-?(?:0|[1-9]\d{0,15})$/;

/** The integer that a string writes, as some models do; undefined unless it means exactly that number. */
export function readDigitString(value: unknown): number | undefined {
  if (typeof value !== 'string' || !DIGITS.test(value) || value === '-0') return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}
