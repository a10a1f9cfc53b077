import { parseJson } from '@assay-mcp/kit/json-object';
import type { ContentComparison } from '@assay-mcp/sandbox/observation';
import { compareJson } from './compare-json.ts';
import { compareAsAppended } from './comparison-task.ts';
import { compareSqlite, isSqlite } from './compare-sqlite.ts';

const MAX_LINES = 20_000;

/**
 * Compares two contents by their common structure, so that of a rewritten file only what it lost counts. Hostile
 * contents can take much time and memory, so this runs in a process of its own.
 */
export function compareContent(before: Buffer, after: Buffer): ContentComparison {
  const appended = compareAsAppended(before, after);
  if (appended !== undefined) return appended;
  try {
    return compareStructure(before, after);
  } catch (error) {
    // Nesting beyond the stack, or an allocation beyond what the process may have.
    const isDeep = error instanceof RangeError && error.message.includes('call stack');
    return { format: 'unknown', why: isDeep ? 'it nests too deeply' : 'comparing it needs too much memory' };
  }
}

function compareStructure(before: Buffer, after: Buffer): ContentComparison {
  if (isSqlite(before) && isSqlite(after)) {
    const rows = compareSqlite(before, after);
    return rows.ok ? { format: 'sqlite', ...rows.value } : { format: 'unknown', why: rows.error };
  }
  const [old, now] = [textOf(before), textOf(after)];
  if (old === undefined || now === undefined)
    return { format: 'bytes', isAdditive: false, isTimestamps: false };
  return compareText(old, now);
}

function compareText(before: string, after: string): ContentComparison {
  const [old, now] = [parseJson(before), parseJson(after)];
  if (old !== undefined && now !== undefined) return { format: 'json', ...compareJson(old, now) };
  const [oldLines, newLines] = [linesOf(before), linesOf(after)];
  const [oldRecords, newRecords] = [recordsOf(oldLines), recordsOf(newLines)];
  if (oldRecords !== undefined && newRecords !== undefined)
    return { format: 'json_lines', ...compareJson(oldRecords, newRecords) };
  return { format: 'lines', isAdditive: isSubsequence(oldLines, newLines), isTimestamps: false };
}

/** Undefined for binary data. */
function textOf(content: Buffer): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line !== '');
}

/** The values of JSON Lines. Undefined if a line is not an object. */
function recordsOf(lines: readonly string[]): readonly unknown[] | undefined {
  if (lines.length > MAX_LINES) return undefined;
  const records = lines.map(parseJson);
  return records.every((record) => typeof record === 'object' && record !== null) ? records : undefined;
}

/** Whether all old lines are still there, in the same order. */
function isSubsequence(before: readonly string[], after: readonly string[]): boolean {
  let at = 0;
  for (const line of after) if (at < before.length && line === before[at]) at += 1;
  return at === before.length;
}
