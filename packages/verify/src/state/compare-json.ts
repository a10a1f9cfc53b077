import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';

/** How much of the old content is kept. */
export interface JsonComparison {
  /** Nothing was lost: members and elements were only added, or timestamps and growing counters updated. */
  readonly isAdditive: boolean;
  /** Nothing but timestamps differ. */
  readonly isTimestamps: boolean;
}

/** Up to this many elements, arrays are compared regardless of order; larger ones only in order. */
const MAX_UNORDERED = 500;

export function compareJson(before: unknown, after: unknown): JsonComparison {
  return {
    isAdditive: isKept(before, after, ''),
    isTimestamps: sameButTimestamps(before, after, ''),
  };
}

/** Whether `after` still contains everything in `before`. */
function isKept(before: unknown, after: unknown, key: string): boolean {
  if (before === null && key !== '') return true;
  if (Array.isArray(before)) return Array.isArray(after) && elementsKept(before, after);
  if (isJsonObject(before)) {
    if (!isJsonObject(after)) return false;
    return Object.entries(before).every(
      ([name, value]) => Object.hasOwn(after, name) && isKept(value, after[name], name),
    );
  }
  return before === after || isTimeUpdate(before, after, key) || isGrowingCounter(before, after, key);
}

function elementsKept(before: readonly unknown[], after: readonly unknown[]): boolean {
  if (after.length < before.length) return false;
  if (after.length > MAX_UNORDERED) return before.every((one, at) => isKept(one, after[at], ''));
  const free = new Set(after.keys());
  return before.every((one) => {
    for (const at of free)
      if (isKept(one, after[at], '')) {
        free.delete(at);
        return true;
      }
    return false;
  });
}

function sameButTimestamps(before: unknown, after: unknown, key: string): boolean {
  if (Array.isArray(before))
    return (
      Array.isArray(after) &&
      after.length === before.length &&
      before.every((one, at) => sameButTimestamps(one, after[at], key))
    );
  if (isJsonObject(before)) return isJsonObject(after) && sameMembers(before, after);
  return before === after || isTimeUpdate(before, after, key);
}

function sameMembers(before: JsonObject, after: JsonObject): boolean {
  const names = Object.keys(before);
  return (
    names.length === Object.keys(after).length &&
    names.every((name) => Object.hasOwn(after, name) && sameButTimestamps(before[name], after[name], name))
  );
}

const TIMESTAMP = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
const TIME_NAME =
  /(?:^|[_-])(?:ts|time|timestamp|date|at|modified|updated|accessed|mtime|seen|used)$|(?:At|Time|Timestamp|Date|Ms|Modified|Updated|Accessed|Seen|Used)$/;
const COUNTER_NAME =
  /(?:^|[_-])(?:next|count|counter|total|size|length|version|revision|rev|sequence|seq|last|max)(?:$|[_-])|^(?:next|last|max|total|num)[A-Z]|(?:Count|Counter|Total|Size|Version|Revision)$/;

const DURATION_NAME =
  /(?:^|_)(?:duration|elapsed|latency|took)(?:$|_)|(?:Duration|Elapsed|Latency)(?:$|[A-Z])|^took[A-Z]|^(?:duration|elapsed|latency)[A-Z]/;

/** A time that advanced, or how long something took, under a name that says so. */
export function isTimeUpdate(before: unknown, after: unknown, key: string): boolean {
  if (DURATION_NAME.test(key)) return typeof before === 'number' && typeof after === 'number';
  if (!TIME_NAME.test(key)) return false;
  if (typeof before === 'number' && typeof after === 'number') return after >= before && before > 1e9;
  return (
    typeof before === 'string' &&
    typeof after === 'string' &&
    TIMESTAMP.test(before) &&
    TIMESTAMP.test(after) &&
    after >= before
  );
}

export function isGrowingCounter(before: unknown, after: unknown, key: string): boolean {
  return typeof before === 'number' && typeof after === 'number' && after > before && COUNTER_NAME.test(key);
}
