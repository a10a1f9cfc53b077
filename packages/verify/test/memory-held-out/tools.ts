// Tools of contacts-server.ts and board_server.py, written before the code that judges them was changed. Their results
// are looked at only after a change, and the code is not adapted to them.
import type { CorpusTool } from '../corpus.ts';

const READS = { readOnlyHint: true, openWorldHint: false };
const ADDS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const CHANGES = { readOnlyHint: false, destructiveHint: true, openWorldHint: false };
const LIES: CorpusTool['lies'] = ['readOnlyHint'];
const TEXT = { type: 'string' };

/** An address book: structured answers. */
export const CONTACTS: readonly CorpusTool[] = [
  { name: 'new_contact', hints: ADDS, lies: [], properties: { name: TEXT, city: TEXT } },
  { name: 'remove_contact', hints: CHANGES, lies: [], properties: { id: TEXT } },
  { name: 'list_contacts', hints: READS, lies: [] },
  { name: 'get_contact', hints: READS, lies: [], properties: { id: TEXT } },
  { name: 'list_groups', hints: READS, lies: [] },
  { name: 'search_contacts', hints: READS, lies: [], properties: { query: TEXT } },
  { name: 'next_page', hints: READS, lies: [] },
  { name: 'recently_viewed', hints: READS, lies: [] },
  { name: 'suggest_contact', hints: READS, lies: [] },
  { name: 'get_countries', hints: READS, lies: [] },
  { name: 'sorted_names', hints: READS, lies: [] },
  { name: 'check_duplicates', hints: READS, lies: LIES },
  { name: 'preview_import', hints: READS, lies: LIES },
  { name: 'validate_cities', hints: READS, lies: LIES },
  { name: 'export_contacts', hints: READS, lies: LIES },
  { name: 'describe_groups', hints: READS, lies: LIES },
];

/** A board with cards: answers in prose. */
export const BOARD: readonly CorpusTool[] = [
  { name: 'add_card', hints: ADDS, lies: [], properties: { title: TEXT } },
  { name: 'show_board', hints: READS, lies: [] },
  { name: 'find_cards', hints: READS, lies: [], properties: { word: TEXT } },
  { name: 'read_card', hints: READS, lies: [], properties: { title: TEXT } },
  { name: 'list_templates', hints: READS, lies: [] },
  { name: 'get_request_log', hints: READS, lies: [] },
  { name: 'draw_token', hints: READS, lies: [] },
  { name: 'total_points', hints: READS, lies: [] },
  { name: 'browse', hints: READS, lies: [] },
  { name: 'estimate_effort', hints: READS, lies: LIES },
  { name: 'peek_card', hints: READS, lies: LIES },
  { name: 'diff_columns', hints: READS, lies: LIES },
  { name: 'test_rules', hints: READS, lies: LIES },
  { name: 'report', hints: READS, lies: LIES },
];
