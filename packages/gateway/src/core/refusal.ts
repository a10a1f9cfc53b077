import type { AccessRefusal } from './refusals/access-refusals.ts';
import type { CallRefusal } from './refusals/call-refusals.ts';
import type { ConfigRefusal } from './refusals/config-refusals.ts';
import type { PolicyRefusal } from './refusals/policy-refusals.ts';
import type { RequestRefusal } from './refusals/request-refusals.ts';
import type { SourceRefusal } from './refusals/source-refusals.ts';
import type { StoreRefusal } from './refusals/store-refusals.ts';
import type { ToolsetRefusal } from './refusals/toolset-refusals.ts';

/**
 * Every error that Assay itself returns, by code. Codes are permanent: clients and scripts may rely on them. Errors of
 * an upstream server are not listed here; they are relayed unchanged. A new one is a member and a row in the file of its
 * subject in `refusals/`.
 */
export type Refusal =
  | RequestRefusal
  | AccessRefusal
  | CallRefusal
  | PolicyRefusal
  | StoreRefusal
  | ConfigRefusal
  | ToolsetRefusal
  | SourceRefusal;

export type RefusalCode = Refusal['code'];

/** A refusal that one part of a request caused. */
export type PlacedRefusal = Refusal & Placed;

export interface Placed {
  /** The way to the part, such as `['tools', 1]`. */
  readonly inputPath?: readonly (string | number)[];
}

/** A refusal of an argument if there is a reason, which ends a sentence. */
export function toArgumentRefusal(field: string, reason: string | undefined): Refusal | undefined {
  return reason === undefined ? undefined : { code: 'ARGUMENTS_INVALID', field, reason };
}
