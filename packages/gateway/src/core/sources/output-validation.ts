/**
 * What happens to the answer of a REST API that does not match the output schema of its tool.
 * - `off`: the schema is neither listed nor checked.
 * - `warn`: the answer is delivered, and the difference is reported to operators.
 * - `strict`: the answer becomes an error that says that the request was carried out.
 */
export const OUTPUT_VALIDATIONS = ['off', 'warn', 'strict'] as const;

export type OutputValidation = (typeof OUTPUT_VALIDATIONS)[number];

/** A request that was carried out must not look as if it had failed: the caller would send it again. */
export const DEFAULT_OUTPUT_VALIDATION: OutputValidation = 'warn';

/** For the descriptions of the member. */
export const OUTPUT_VALIDATION_ABOUT =
  'what a response that does not match the output schema becomes: warn, delivered and reported in /health; strict, an error; off, the schema is neither listed nor checked';
