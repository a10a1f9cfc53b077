/** Why a value is invalid: the path of keys to the fault, and the reason as the end of a sentence. */
export interface SchemaFault {
  readonly path: readonly string[];
  readonly reason: string;
}

/** Compiles a JSON Schema (2020-12) to a validator. The validator returns undefined for a valid value. */
export type CompileSchema = (schema: object) => (value: unknown) => SchemaFault | undefined;
