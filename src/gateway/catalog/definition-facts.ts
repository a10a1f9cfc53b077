import { digestOfDefinition } from '../../core/digest.ts';
import { declaredIn, type Declared } from '../../core/hints/declared.ts';
import { declaredText } from '../../core/hints/tool-facts.ts';
import type { Definition } from '../ports/link.ts';
import { type JsonObject, parsedObject } from '../../core/json-object.ts';

/** A definition as a JSON object. Empty if it is not one. */
export function definitionJson({ bytes }: Definition): JsonObject {
  return parsedObject(bytes.toString());
}

/** Whether no client gets it: leaving out members cannot fix it. */
export function isWithheld(definition: Definition): boolean {
  return withheldOf(definition)?.eras.length === 2;
}

export interface Withheld {
  /** Eras whose clients do not get it. */
  readonly eras: readonly ('legacy' | 'modern')[];
  /** A phrase. */
  readonly reason: string;
}

/** Undefined if all clients get it. */
export function withheldOf({ fitness: { legacy, modern } }: Definition): Withheld | undefined {
  if (legacy.kind === 'withheld')
    return { eras: modern.kind === 'withheld' ? ['legacy', 'modern'] : ['legacy'], reason: legacy.reason };
  return modern.kind === 'withheld' ? { eras: ['modern'], reason: modern.reason } : undefined;
}

/** Everything the source says about a tool, as JSON text. Input for digests, drift and toolsets. */
export function declaredTextOf({ bytes, facts }: Definition): string {
  return declaredText(bytes.toString(), facts);
}

const DIGESTS = new WeakMap<Definition, string>();

/** SHA-256 of the tool's record in canonical JSON, in hexadecimal. Cached. */
export function digestOf(definition: Definition): string {
  const known = DIGESTS.get(definition);
  if (known !== undefined) return known;
  const digest = digestOfDefinition(declaredTextOf(definition));
  DIGESTS.set(definition, digest);
  return digest;
}

const DECLARED = new WeakMap<Definition, Declared>();

/** What a definition declares. Cached. */
export function declaredOf(definition: Definition): Declared {
  const known = DECLARED.get(definition);
  if (known !== undefined) return known;
  const declared = declaredIn(definition.bytes.toString(), definition.facts);
  DECLARED.set(definition, declared);
  return declared;
}
