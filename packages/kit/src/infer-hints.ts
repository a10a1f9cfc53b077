import type { Hints } from './hint.ts';

/** The four hints implied by a tool's HTTP method, and the reason. */
export interface Inference {
  readonly hints: Hints;
  readonly reason: string;
  /** Whether it may lower caution even if the method comes from a third-party document: RFC 9110, section 9.2.1. */
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
  // Safe and idempotent, with a body: draft-ietf-httpbis-safe-method-w-body.
  ['QUERY', READS],
  ['POST', ADDS],
  ['PUT', { readOnly: false, destructive: false, idempotent: true }],
  ['PATCH', ADDS],
  ['DELETE', { readOnly: false, destructive: true, idempotent: true }],
]);

/** Whether a method only reads (RFC 9110, section 9.2.1), so it may be retried, or lower caution from any source. */
export function isSafeMethod(method: string): boolean {
  return METHODS.get(method.toUpperCase())?.readOnly === true;
}

/** Undefined for an unknown method, so that nothing is claimed. An HTTP call always reaches the outside. */
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
