import type { Era } from './eras.ts';
import { getModernMembers } from './translate.ts';

/** Assay's own response with a result that is already JSON text, in pieces because it may be a large list. */
export function buildResultPieces(idText: string, result: Buffer): readonly Buffer[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":`), result, CLOSE];
}

export function buildResultMessage(idText: string, result: Buffer): Buffer {
  return Buffer.concat(buildResultPieces(idText, result));
}

const CLOSE: Buffer = Buffer.from('}');

/** JSON text of a result, including the members that the modern era adds. */
export function serializeResult(method: string, era: Era, result: Readonly<Record<string, unknown>>): Buffer {
  const added = era === 'modern' ? getModernMembers(method).map(([key, value]) => `,"${key}":${value}`) : [];
  const text = JSON.stringify(result);
  const body = text === '{}' ? added.join('').slice(1) : text.slice(1, -1) + added.join('');
  return Buffer.from(`{${body}}`);
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/**
 * An error response. Without a readable id, it carries `null` in the legacy era, as JSON-RPC 2.0 requires, and no id in
 * the modern era (2026-07-28, basic/index#error-responses).
 */
export function buildErrorMessage(idText: string | undefined, error: RpcError, era: Era): Buffer {
  const id = idText ?? (era === 'legacy' ? 'null' : undefined);
  const head = id === undefined ? '' : `"id":${id},`;
  return Buffer.from(`{"jsonrpc":"2.0",${head}"error":${JSON.stringify(error)}}`);
}

/** Assay's own notification with params that are already JSON text. */
export function buildNotificationText(method: string, params: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`);
}

/** Assay's own notification. */
export function buildNotification(method: string, params?: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method, params }));
}
