/** What is wrong with an entry that somebody wrote. */
export interface EntryFault {
  /** Its member, maybe as a path: `auth.type`; empty: its name. */
  readonly field: string;
  /** A sentence. */
  readonly reason: string;
}
