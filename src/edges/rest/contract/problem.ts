/** The format of all errors (RFC 9457). */
export interface ProblemView {
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
}
