import type { Hint } from './hint.ts';

/** What an HTTP method says of the tool that sends it, all four hints, with the reason. */
export interface Inference {
  readonly hints: Readonly<Record<Hint, boolean>>;
  readonly reason: string;
  /** Whether it may also lower caution where the method stands in a document from elsewhere: RFC 9110, section 9.2.1. */
  readonly isSafe: boolean;
}

interface Row {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
}

const READS: Row = { readOnly: true, destructive: false, idempotent: true };
const ADDS: Row = { readOnly: false, destructive: false, idempotent: false };

const METHODS: ReadonlyMap<string, Row> = new Map([
  ['GET', READS],
  ['HEAD', READS],
  ['OPTIONS', READS],
  ['POST', ADDS],
  ['PUT', { readOnly: false, destructive: false, idempotent: true }],
  ['PATCH', ADDS],
  ['DELETE', { readOnly: false, destructive: true, idempotent: true }],
]);

/** Whether a method only reads (RFC 9110, section 9.2.1), so that it may be sent again, or lower caution by anybody's word. */
export function isSafeMethod(method: string): boolean {
  return METHODS.get(method.toUpperCase())?.readOnly === true;
}

/** Undefined for a method of which nothing is known: nobody says anything then. An HTTP call always reaches outside. */
export function inferFromMethod(method: string): Inference | undefined {
  const name = method.toUpperCase();
  const row = METHODS.get(name);
  if (row === undefined) return undefined;
  return {
    hints: {
      readOnlyHint: row.readOnly,
      destructiveHint: row.destructive,
      idempotentHint: row.idempotent,
      openWorldHint: true,
    },
    reason: `${name} request`,
    isSafe: row.readOnly,
  };
}
