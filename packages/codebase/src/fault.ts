/** The kind of a failure, for programs. */
export type FaultCode =
  | 'VALIDATION_ERROR'
  | 'NOT_FOUND'
  | 'ACCESS_DENIED'
  | 'NOT_INDEXED'
  | 'INDEX_BUSY'
  | 'INDEX_FULL'
  | 'CANCELLED'
  | 'SETTING_INVALID'
  | 'OPERATION_ERROR';

/** An expected failure of a tool. Each text is one sentence or more, with its full stop. */
export interface Fault {
  readonly code: FaultCode;
  /** The argument that is at fault. */
  readonly field?: string | undefined;
  readonly message: string;
  /** What to do next. */
  readonly remedy: string;
}

export function formatFault({ code, field, message, remedy }: Fault): string {
  return `${code}${field === undefined ? '' : ` (${field})`}: ${message} ${remedy}`;
}
