/** What an operator says of a server. Holds for the server that had the name then, and for no other. */
export interface ServerWord {
  readonly server: string;
  readonly identity: string;
  /** Whether its hints may lower caution. */
  readonly trust: boolean;
}
