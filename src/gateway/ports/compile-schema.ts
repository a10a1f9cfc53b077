/** What is wrong with a value: where, as a path of its keys, and why, as the end of a sentence. */
export interface SchemaFault {
  readonly path: readonly string[];
  readonly reason: string;
}

/** Makes a check of values by a JSON Schema of 2020-12. Undefined: the value fits. */
export type CompileSchema = (schema: object) => (value: unknown) => SchemaFault | undefined;
