import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** The requested part of a list. */
export interface PageQuery {
  readonly limit: number;
  /** `nextCursor` of the previous page. */
  readonly cursor: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
}

export const PAGE_LIMITS: { readonly max: 1_000; readonly defaultValue: 50 } = {
  max: 1_000,
  defaultValue: 50,
};

/**
 * A page of a list sorted by key. A cursor names the last key seen, so concurrent changes do not shift pages.
 * CURSOR_INVALID for a cursor that no page returned.
 */
export function paginate<T>(
  all: readonly T[],
  { limit, cursor }: PageQuery,
  keyOf: (item: T) => string,
): Result<Page<T>, Refusal> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  if (cursor !== undefined && after === undefined) return err({ code: 'CURSOR_INVALID' });
  const rest = after === undefined ? all : all.filter((item) => keyOf(item) > after);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const isLast = last === undefined || rest.length <= limit;
  return ok({ items, nextCursor: isLast ? undefined : encodeCursor(keyOf(last)) });
}

/** Cursors are opaque to clients. */
export function encodeCursor(key: string): string {
  return Buffer.from(`1:${key}`).toString('base64url');
}

/** Undefined for an invalid cursor. */
export function readCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  return text.startsWith('1:') && encodeCursor(text.slice(2)) === cursor ? text.slice(2) : undefined;
}
