/** The text of one tool that a query is compared with. */
export interface SearchDocument {
  readonly key: string;
  readonly name: string;
  readonly server: string;
  readonly title: string;
  /** First sentence of the description. */
  readonly summary: string;
  readonly description: string;
  /** Names, descriptions and fixed values of the parameters. */
  readonly parameters: string;
}

/** Keys of the documents that match any word of the query, best match first. */
export type Search = (query: string) => readonly string[];

/** Indexes documents. Yields to the event loop in between: ten thousand documents take about a second. */
export type BuildSearch = (documents: Iterable<SearchDocument>) => Promise<Search>;
