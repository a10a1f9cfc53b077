import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';

/** How much of the old content is kept. */
export interface Comparison {
  /**
   * Nothing was lost: members and elements were only added, or timestamps and growing counters updated. Unknown if, besides,
   * only states differ, such as that a task is done: whether the former one is lost depends on what it means.
   */
  readonly isAdditive: boolean | 'unknown';
  /** Nothing but timestamps differ. */
  readonly isTimestamps: boolean;
}

/** Up to this many elements, arrays are compared regardless of order; larger ones only in order. */
const MAX_UNORDERED = 500;

export function compareJson(before: unknown, after: unknown): Comparison {
  return {
    isAdditive:
      isKept(before, after, { key: '', mayChangeState: false }) ||
      (isKept(before, after, { key: '', mayChangeState: true }) && 'unknown'),
    isTimestamps: sameButTimestamps(before, after, ''),
  };
}

interface Member {
  readonly key: string;
  readonly mayChangeState: boolean;
}

/** Whether `after` still contains everything in `before`. */
function isKept(before: unknown, after: unknown, member: Member): boolean {
  const { key, mayChangeState } = member;
  if (before === null && key !== '') return true;
  if (mayChangeState && isStateChange(before, after, key)) return true;
  if (Array.isArray(before)) return Array.isArray(after) && elementsKept(before, after, member);
  if (isJsonObject(before)) {
    if (!isJsonObject(after)) return false;
    return Object.entries(before).every(
      ([name, value]) =>
        Object.hasOwn(after, name) && isKept(value, after[name], { key: name, mayChangeState }),
    );
  }
  return before === after || isTimeUpdate(before, after, key) || isGrowingCounter(before, after, key);
}

function elementsKept(before: readonly unknown[], after: readonly unknown[], member: Member): boolean {
  const one = { ...member, key: '' };
  if (after.length < before.length) return false;
  if (after.length > MAX_UNORDERED) return before.every((value, at) => isKept(value, after[at], one));
  const free = new Set(after.keys());
  return before.every((value) => {
    for (const at of free)
      if (isKept(value, after[at], one)) {
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

const STATE_NAME =
  /(?:^|[_-])(?:status|state|stage|phase|done|completed?|finished|active|enabled|running|started|archived|paused|closed|checked|read|pinned|locked|selected|current)$|(?:Status|State|Done|Completed?|Active|Enabled|Running|Archived|Current)$/;
const MAX_STATE = 40;

/** A short text or a boolean under a name that says that it is a state, or the end of what is going on. */
export function isStateChange(before: unknown, after: unknown, key: string): boolean {
  if (typeof before === 'boolean' && typeof after === 'boolean') return true;
  if (!STATE_NAME.test(key)) return false;
  if (after === null) return true;
  return (
    typeof before === 'string' &&
    typeof after === 'string' &&
    Math.max(before.length, after.length) <= MAX_STATE
  );
}

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
