import { toCauseJson } from './cause.ts';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal, RefusalCode } from './refusal.ts';
import { shortenRefusal } from './bounded-refusal.ts';
import type { ReportedCodes } from './refusals/refusal-row.ts';
import { REFUSALS } from './refusals/refusals.ts';
import { formatRefusal } from './sentences.ts';

/** Exit codes of the command line. */
export const EXIT: {
  readonly done: 0;
  readonly failed: 1;
  readonly usage: 2;
  readonly config: 3;
  readonly unavailable: 4;
  readonly toolError: 5;
} = { done: 0, failed: 1, usage: 2, config: 3, unavailable: 4, toolError: 5 };

/** All codes, by subject. */
export const REFUSAL_CODES: readonly RefusalCode[] = Object.keys(REFUSALS) as RefusalCode[]; // keys of a total record

/** The HTTP status of a refusal in the REST API. */
export function getRestStatus(code: RefusalCode): number {
  const { http, rest = http } = REFUSALS[code].reported;
  return rest;
}

export function getReportedCodes({ code }: Pick<Refusal, 'code'>): ReportedCodes {
  return REFUSALS[code].reported;
}

export function getExitCode({ code }: Pick<Refusal, 'code'>): number {
  return EXIT[REFUSALS[code].reported.exit];
}

/** The code of one of Assay's own refusals in a JSON-RPC error. Undefined if the error is not Assay's. */
export function findRefusalCode(error: JsonObject): RefusalCode | undefined {
  const { data } = error;
  const code = isJsonObject(data) ? data['code'] : undefined;
  return REFUSAL_CODES.find((known) => known === code);
}

/** A refusal as the `error` member of a JSON-RPC response. `data` holds the code and details, with texts truncated. */
export function toRpcError(
  refusal: Refusal,
  isLegacy: boolean,
): { readonly code: number; readonly message: string; readonly data: Readonly<Record<string, unknown>> } {
  const { rpc, legacyRpc = rpc } = getReportedCodes(refusal);
  return {
    code: isLegacy ? legacyRpc : rpc,
    message: formatRefusal(refusal),
    data: dataOf(shortenRefusal(refusal)),
  };
}

/** Member of a tool result's `_meta` that holds the refusal with its code. */
const REFUSAL_MEMBER = 'assay/refusal';

/**
 * A refusal as a tool result: clients need not show protocol errors to models, but models should read why they may not
 * do something. Undefined if the refusal is a protocol error.
 */
export function toToolError(refusal: Refusal): JsonObject | undefined {
  if (REFUSALS[refusal.code].isToolError !== true) return undefined;
  const content = [{ type: 'text', text: formatRefusal(refusal) }];
  return { content, isError: true, _meta: { [REFUSAL_MEMBER]: dataOf(shortenRefusal(refusal)) } };
}

/** The code of a refusal that arrived as a tool result. */
export function findToolErrorCode({ _meta: meta }: JsonObject): RefusalCode | undefined {
  return isJsonObject(meta) ? findRefusalCode({ data: meta[REFUSAL_MEMBER] }) : undefined;
}

function dataOf(refusal: Refusal): Readonly<Record<string, unknown>> {
  if (!('cause' in refusal) || refusal.cause === undefined) return refusal;
  const { cause } = refusal;
  const waitSeconds = 'waitSeconds' in cause ? cause.waitSeconds : undefined;
  return { ...refusal, ...toCauseJson(cause), ...(waitSeconds !== undefined && { waitSeconds }) };
}

/** Why something could not be stored, as a phrase. Undefined if the refusal is not about the store. */
export function findUnsavedReason(refusal: Refusal): string | undefined {
  if (refusal.code === 'STORE_UNAVAILABLE' || refusal.code === 'WRITE_UNCONFIRMED') return refusal.reason;
  if (refusal.code !== 'STORE_MOVED') return undefined;
  return 'the file of the store was deleted, moved or replaced';
}
