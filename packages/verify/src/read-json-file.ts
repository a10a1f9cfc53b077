import { type Fault, toField } from '@assay-mcp/kit/json-position';
import type { Reader } from '@assay-mcp/kit/json-reader';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** The position of a fault in a file, and what is wrong there. */
export interface FileFault {
  readonly code: 'FIXTURES_INVALID' | 'BASELINE_INVALID';
  /** `tools.read_file.calls.0`; empty for the whole file. */
  readonly field: string;
  /** The end of a sentence. */
  readonly problem: string;
}

/** Reads a file of the person who verifies. The error has its first fault, with this code. */
export function readJsonFile<T>(
  json: string,
  code: FileFault['code'],
  read: Reader<T>,
): Result<T, FileFault> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    return err({ code, field: '', problem: `it is not JSON: ${reason}` });
  }
  const faults: Fault[] = [];
  const result = read({ value, pointer: '', faults });
  const [first] = faults;
  if (first === undefined) return ok(result);
  return err({ code, field: toField(first.pointer), problem: first.reason });
}
