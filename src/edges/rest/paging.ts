import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Which part of a list is wanted. */
export interface PageQuery {
  readonly limit: number;
  /** What the page before gave. */
  readonly cursor: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Undefined: nothing comes after this. */
  readonly nextCursor: string | undefined;
}

export const PAGE_LIMITS: { readonly most: 1_000; readonly otherwise: 50 } = { most: 1_000, otherwise: 50 };

/**
 * The page of a list whose keys go up. What comes or goes meanwhile shifts no page, as a cursor names the last key that was
 * seen and no place. CURSOR_INVALID for one that no page gave.
 */
export function pageOf<T>(
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
  return ok({ items, nextCursor: isLast ? undefined : cursorOf(keyOf(last)) });
}

/** A cursor is opaque to whoever gets it. */
export function cursorOf(key: string): string {
  return Buffer.from(`1:${key}`).toString('base64url');
}

/** Undefined for what is no cursor. */
export function readCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  return text.startsWith('1:') && cursorOf(text.slice(2)) === cursor ? text.slice(2) : undefined;
}
