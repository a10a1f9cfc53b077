/** What is wrong with an entry that somebody wrote. */
export interface EntryFault {
  /** Its member, such as `auth.type`; empty: its name. */
  readonly field: string;
  /** A sentence. */
  readonly reason: string;
}
