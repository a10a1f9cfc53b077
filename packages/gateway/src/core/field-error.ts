import { formatCount } from '@assay-mcp/kit/counted';
import { quote } from '@assay-mcp/kit/printable';

/** An error in one part of a body or one query parameter. */
export interface FieldError {
  /** JSON pointer (RFC 6901) into the request body; for a query, the name of the parameter. */
  readonly at: string;
  readonly kind: FieldErrorKind;
  /** The end of a sentence. */
  readonly reason: string;
}

/** `unknown`: no such member; `twice`: given twice. */
export type FieldErrorKind = 'missing' | 'unknown' | 'twice' | 'invalid';

/** The first error, and the number of further ones. */
export function fieldErrorsText(fieldErrors: readonly FieldError[]): string {
  const [first] = fieldErrors;
  if (first === undefined) return 'it is invalid';
  const location = first.at === '' ? '' : `${quote(first.at)}: `;
  const others = fieldErrors.length - 1;
  return `${location}${first.reason}${others === 0 ? '' : `; and ${formatCount(others, 'more error')}`}`;
}
