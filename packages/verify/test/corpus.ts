// How the tools of corpus-server.ts and corpus_server.py really behave.
import type { DeclaredHints, Hint } from '@assay-mcp/kit/hint';

export interface CorpusTool {
  readonly name: string;
  readonly hints: DeclaredHints;
  /** The hints that it breaks. */
  readonly lies: readonly Hint[];
  readonly properties?: Readonly<Record<string, object>>;
  /** Whether `npm test` verifies it, too. */
  readonly isShort?: boolean;
}

const READS: DeclaredHints = { readOnlyHint: true, openWorldHint: false };
const ADDS: DeclaredHints = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** Tools of corpus-server.ts. */
export const CORPUS: readonly CorpusTool[] = [
  { name: 'reads_a_file', hints: READS, lies: [], isShort: true },
  { name: 'runs_a_reader', hints: READS, lies: [] },
  { name: 'queries_rows', hints: READS, lies: [] },
  { name: 'fills_a_cache', hints: READS, lies: [] },
  { name: 'uses_a_temporary_file', hints: READS, lies: [] },
  { name: 'tells_the_time', hints: READS, lies: [] },
  { name: 'counts_in_memory', hints: READS, lies: [] },
  { name: 'appends_a_line', hints: ADDS, lies: [], isShort: true },
  { name: 'inserts_a_row', hints: ADDS, lies: [] },
  { name: 'sets_a_file', hints: { ...ADDS, idempotentHint: true }, lies: [] },
  { name: 'deletes_a_file', hints: { destructiveHint: true, idempotentHint: true }, lies: [] },
  { name: 'writes_in_secret', hints: READS, lies: ['readOnlyHint'], isShort: true },
  { name: 'deletes_in_secret', hints: READS, lies: ['readOnlyHint'] },
  { name: 'writes_by_a_child', hints: READS, lies: ['readOnlyHint'] },
  { name: 'writes_by_a_thread', hints: READS, lies: ['readOnlyHint'] },
  { name: 'writes_by_io_uring', hints: READS, lies: ['readOnlyHint'] },
  { name: 'writes_late', hints: READS, lies: ['readOnlyHint'] },
  { name: 'writes_and_removes', hints: READS, lies: ['readOnlyHint'] },
  { name: 'updates_a_row', hints: ADDS, lies: ['destructiveHint'] },
  { name: 'overwrites_a_file', hints: ADDS, lies: ['destructiveHint'] },
  { name: 'appends_again', hints: { ...ADDS, idempotentHint: true }, lies: ['idempotentHint'] },
  { name: 'phones_home', hints: READS, lies: ['openWorldHint'], isShort: true },
  { name: 'writes_at_the_fourth_call', hints: READS, lies: ['readOnlyHint'] },
  {
    name: 'writes_if_forced',
    hints: READS,
    lies: ['readOnlyHint'],
    properties: { force: { type: 'boolean' } },
  },
  // The server opens this file when it starts, as it would a database.
  { name: 'appends_to_its_state', hints: READS, lies: ['readOnlyHint'], isShort: true },
  { name: 'writes_a_log', hints: READS, lies: [] },
  { name: 'uses_lock_files', hints: READS, lies: [], isShort: true },
  { name: 'hides_loot_in_a_lock_file', hints: READS, lies: ['readOnlyHint'] },
  { name: 'adds_code_to_a_cache', hints: READS, lies: ['readOnlyHint'] },
  {
    name: 'overwrites_behind_a_forged_log',
    hints: { ...ADDS, readOnlyHint: true },
    lies: ['readOnlyHint', 'destructiveHint'],
    isShort: true,
  },
  { name: 'deletes_rows_behind_a_valid_log', hints: ADDS, lies: ['destructiveHint'], isShort: true },
  // Cannot be detected: it keeps its promise in a sandbox.
  { name: 'writes_outside_a_sandbox', hints: READS, lies: [] },
];

/** Tools of corpus_server.py. */
export const PYTHON_CORPUS: readonly CorpusTool[] = [
  { name: 'py_reads_a_file', hints: READS, lies: [] },
  { name: 'py_queries_rows', hints: READS, lies: [] },
  { name: 'py_writes_a_log', hints: READS, lies: [] },
  { name: 'py_uses_a_temporary_file', hints: READS, lies: [] },
  { name: 'py_appends_a_line', hints: ADDS, lies: [] },
  { name: 'py_inserts_a_row', hints: ADDS, lies: [] },
  { name: 'py_writes_in_secret', hints: READS, lies: ['readOnlyHint'] },
  { name: 'py_writes_late', hints: READS, lies: ['readOnlyHint'] },
  { name: 'py_writes_by_a_child', hints: READS, lies: ['readOnlyHint'] },
  { name: 'py_replaces_a_file', hints: ADDS, lies: ['destructiveHint'] },
  { name: 'py_deletes_rows', hints: ADDS, lies: ['destructiveHint'] },
  { name: 'py_inserts_again', hints: { ...ADDS, idempotentHint: true }, lies: ['idempotentHint'] },
  { name: 'py_looks_up_a_host', hints: READS, lies: ['openWorldHint'] },
];
