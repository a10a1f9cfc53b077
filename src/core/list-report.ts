/**
 * - `name_ambiguous`, `name_too_long`: it has another public name than it would have by itself.
 * - `name_repeated`, `name_hidden`: left out, as its server or another one has the name already.
 * - `list_limit`, `instructions_limit`: cut at a setting of `limits`.
 * - `instructions_changed`: models get the accepted text until a review.
 * - `member_left_out`, `withheld`: left out of a definition, or the whole definition, as clients would reject it.
 */
export type ListReportCode =
  | 'name_ambiguous'
  | 'name_too_long'
  | 'name_repeated'
  | 'name_hidden'
  | 'list_limit'
  | 'instructions_limit'
  | 'instructions_changed'
  | 'member_left_out'
  | 'withheld';

/** A tool, prompt, resource or the instructions of a server differ from what the server wrote, or are left out. */
export interface ListReport {
  readonly code: ListReportCode;
  /** A sentence without its full stop, for people. */
  readonly text: string;
}
