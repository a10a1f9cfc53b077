import { digestOfDefinition } from '../core/digest.ts';
import { declaredIn, type Declared } from '../core/hints/declared.ts';
import type { Definition } from './ports.ts';

/** A definition as a JSON object; an empty one where it is none. */
export function definitionJson({ bytes }: Definition): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

const DIGESTS = new WeakMap<Definition, string>();

/** SHA-256 of a definition in canonical JSON, in hexadecimal; made once. */
export function digestOf(definition: Definition): string {
  const known = DIGESTS.get(definition);
  if (known !== undefined) return known;
  const digest = digestOfDefinition(definition.bytes.toString());
  DIGESTS.set(definition, digest);
  return digest;
}

const DECLARED = new WeakMap<Definition, Declared>();

/** What a definition says; read once. */
export function declaredOf(definition: Definition): Declared {
  const known = DECLARED.get(definition);
  if (known !== undefined) return known;
  const declared = declaredIn(definition.bytes.toString());
  DECLARED.set(definition, declared);
  return declared;
}
