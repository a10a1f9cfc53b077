import { digestOfDefinition } from '../../core/digest.ts';
import { declaredIn, type Declared } from '../../core/hints/declared.ts';
import { recordText } from '../../core/hints/tool-facts.ts';
import type { Definition } from '../ports/link.ts';

/** A definition as a JSON object; an empty one where it is none. */
export function definitionJson({ bytes }: Definition): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** Whether no client gets it, as leaving out members cannot mend it. */
export function isWithheld(definition: Definition): boolean {
  return withheldOf(definition)?.eras.length === 2;
}

export interface Withheld {
  /** Clients of these do not get it. */
  readonly eras: readonly ('legacy' | 'modern')[];
  /** A phrase. */
  readonly reason: string;
}

/** Undefined: all clients get it. */
export function withheldOf({ fitness: { legacy, modern } }: Definition): Withheld | undefined {
  if (legacy.kind === 'withheld')
    return { eras: modern.kind === 'withheld' ? ['legacy', 'modern'] : ['legacy'], reason: legacy.reason };
  return modern.kind === 'withheld' ? { eras: ['modern'], reason: modern.reason } : undefined;
}

/** JSON text of all that its source says of a tool; what digests, drift and toolsets are computed from. */
export function recordTextOf({ bytes, facts }: Definition): string {
  return recordText(bytes.toString(), facts);
}

const DIGESTS = new WeakMap<Definition, string>();

/** SHA-256 of the record of a tool in canonical JSON, in hexadecimal; made once. */
export function digestOf(definition: Definition): string {
  const known = DIGESTS.get(definition);
  if (known !== undefined) return known;
  const digest = digestOfDefinition(recordTextOf(definition));
  DIGESTS.set(definition, digest);
  return digest;
}

const DECLARED = new WeakMap<Definition, Declared>();

/** What a definition says; read once. */
export function declaredOf(definition: Definition): Declared {
  const known = DECLARED.get(definition);
  if (known !== undefined) return known;
  const declared = declaredIn(definition.bytes.toString(), definition.facts);
  DECLARED.set(definition, declared);
  return declared;
}
