import { hashDefinition } from '@assay-mcp/kit/digest';
import { readDeclared, type Declared } from '../../core/hints/declared.ts';
import { serializeDeclared } from '../../core/hints/tool-facts.ts';
import type { Definition } from '../ports/link.ts';
import { type JsonObject, parseObject } from '@assay-mcp/kit/json-object';

/** A definition as a JSON object. Empty if it is not one. */
export function parseDefinition({ bytes }: Definition): JsonObject {
  return parseObject(bytes.toString());
}

/** Whether no client gets it: leaving out members cannot fix it. */
export function isWithheld(definition: Definition): boolean {
  return getWithheld(definition)?.eras.length === 2;
}

export interface Withheld {
  /** Eras whose clients do not get it. */
  readonly eras: readonly ('legacy' | 'modern')[];
  /** A phrase. */
  readonly reason: string;
}

/** Undefined if all clients get it. */
export function getWithheld({ fitness: { legacy, modern } }: Definition): Withheld | undefined {
  if (legacy.kind === 'withheld')
    return { eras: modern.kind === 'withheld' ? ['legacy', 'modern'] : ['legacy'], reason: legacy.reason };
  return modern.kind === 'withheld' ? { eras: ['modern'], reason: modern.reason } : undefined;
}

/** Everything the source says about a tool, as JSON text. Input for digests, drift and toolsets. */
export function getDeclaredText({ bytes, facts }: Definition): string {
  return serializeDeclared(bytes.toString(), facts);
}

const DIGESTS = new WeakMap<Definition, string>();

/** SHA-256 of the tool's record in canonical JSON, in hexadecimal. Cached. */
export function getDigest(definition: Definition): string {
  const known = DIGESTS.get(definition);
  if (known !== undefined) return known;
  const digest = hashDefinition(getDeclaredText(definition));
  DIGESTS.set(definition, digest);
  return digest;
}

const DECLARED = new WeakMap<Definition, Declared>();

/** What a definition declares. Cached. */
export function getDeclared(definition: Definition): Declared {
  const known = DECLARED.get(definition);
  if (known !== undefined) return known;
  const declared = readDeclared(definition.bytes.toString(), definition.facts);
  DECLARED.set(definition, declared);
  return declared;
}
