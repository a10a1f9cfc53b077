/** An error in one field of a body, by its JSON pointer. */
export interface FieldProblem {
  readonly pointer?: string;
  readonly detail: string;
}

/** The format of all errors (RFC 9457). */
export interface ProblemView {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly FieldProblem[];
}
