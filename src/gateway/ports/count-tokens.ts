/** Counts the tokens of a text as a large language model would. */
export type CountTokens = (text: string) => number;
