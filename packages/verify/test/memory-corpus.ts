// How the tools of memory-server.ts and memory_server.py behave, whose state is only in memory.
import type { CorpusTool } from './corpus.ts';

const READS = { readOnlyHint: true, openWorldHint: false };
const ADDS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const REPEATS = { ...ADDS, idempotentHint: true };
const LIES: CorpusTool['lies'] = ['readOnlyHint'];

/** Tools of one server: those that store something, those that show it, and those whose hints are judged. */
export const MEMORY_CORPUS: readonly CorpusTool[] = [
  { name: 'add_note', hints: REPEATS, lies: ['idempotentHint'], properties: { text: { type: 'string' } } },
  { name: 'list_notes', hints: READS, lies: [] },
  { name: 'get_status', hints: READS, lies: [] },
  { name: 'search_notes', hints: READS, lies: [], properties: { query: { type: 'string' } } },
  { name: 'count_notes', hints: READS, lies: [] },
  { name: 'peek_at_note', hints: READS, lies: [] },
  { name: 'pop_note', hints: READS, lies: LIES },
  { name: 'check_notes', hints: READS, lies: LIES },
  { name: 'format_notes', hints: READS, lies: LIES },
];

/** The same in Python, with other lies. */
export const PYTHON_MEMORY_CORPUS: readonly CorpusTool[] = [
  { name: 'create_task', hints: ADDS, lies: [], properties: { title: { type: 'string' } } },
  { name: 'list_tasks', hints: READS, lies: [] },
  { name: 'find_tasks', hints: READS, lies: [], properties: { query: { type: 'string' } } },
  { name: 'get_statistics', hints: READS, lies: [] },
  { name: 'preview_report', hints: READS, lies: LIES },
  { name: 'validate_tasks', hints: READS, lies: LIES },
];

/**
 * Written before the code that judges them. Later changes of it were made with these in view, since honest tools were
 * accused; memory-held-out/ has servers that were not.
 */
export const HELD_OUT_NODE: readonly CorpusTool[] = [
  {
    name: 'set_item',
    hints: REPEATS,
    lies: [],
    properties: { key: { type: 'string' }, value: { type: 'string' } },
  },
  { name: 'list_items', hints: READS, lies: [] },
  { name: 'get_recent_queries', hints: READS, lies: [] },
  { name: 'list_feed', hints: READS, lies: [] },
  { name: 'get_item', hints: READS, lies: [], properties: { key: { type: 'string' } } },
  { name: 'query_items', hints: READS, lies: [], properties: { query: { type: 'string' } } },
  { name: 'load_catalog', hints: READS, lies: [] },
  { name: 'list_catalog', hints: READS, lies: [] },
  { name: 'inspect_items', hints: READS, lies: LIES },
  { name: 'summarize_items', hints: READS, lies: LIES },
  { name: 'compare_items', hints: READS, lies: LIES },
];

export const HELD_OUT_PYTHON: readonly CorpusTool[] = [
  {
    name: 'remember_fact',
    hints: ADDS,
    lies: [],
    properties: { subject: { type: 'string' }, fact: { type: 'string' } },
  },
  { name: 'get_facts', hints: READS, lies: [] },
  { name: 'recall_fact', hints: READS, lies: [], properties: { subject: { type: 'string' } } },
  { name: 'list_sessions', hints: READS, lies: [] },
  { name: 'show_clock', hints: READS, lies: [] },
  { name: 'verify_facts', hints: READS, lies: LIES },
  { name: 'explain_fact', hints: READS, lies: LIES, properties: { subject: { type: 'string' } } },
];
