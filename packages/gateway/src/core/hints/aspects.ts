import {
  serializeCanonical,
  parseExactJson,
  hasDuplicateKeys,
  isMembers,
} from '@assay-mcp/kit/canonical-json';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { findMeantHint, HINTS, type Hints } from '@assay-mcp/kit/hint';
import type { Claim } from './claim.ts';
import { readDeclared } from './declared.ts';
import { inferFromMethod } from '@assay-mcp/kit/infer-hints';
import { resolveHints } from './resolve.ts';
import { FACTS_MEMBER } from './tool-facts.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

/** Properties of a definition's source that affect how it is read. */
export interface DefinitionSource {
  /** Whether Assay builds the tool itself, so that its request is part of its behaviour. */
  readonly isMade: boolean;
  /** Whether the operator chose where its requests go; a new target is then the operator's own edit. */
  readonly isTargetChosen?: boolean | undefined;
}

/**
 * A definition split into parts, each as canonical JSON; absent members are empty. Equal parts mean the same thing,
 * however they are written.
 */
export interface Parts {
  readonly name: string;
  /** The hints according to the source alone. */
  readonly hints: Hints;
  /** Annotations that a lenient reader (ignoring case and underscores, or coercing to boolean) could take for hints. */
  readonly hintLike: string;
  /** Without descriptive texts. */
  readonly inputSchema: string;
  /** The request or module of a tool that Assay builds, without its target. */
  readonly request: string;
  /** Where its requests go; empty if the operator chose it. */
  readonly target: string;
  /** Also `annotations.title`. */
  readonly title: string;
  readonly description: string;
  /** Titles, descriptions and comments within the input schema. */
  readonly schemaText: string;
  readonly icons: string;
  readonly outputSchema: string;
  readonly meta: string;
}

/** Digests of a definition: its behaviour, the target of its requests, and the prose that people and models read. */
export interface Aspects {
  readonly behaviour: string;
  /** Empty if the operator chose the target or the tool has none. */
  readonly target: string;
  readonly prose: string;
}

export type AspectsOf = () => Aspects;

const DIGITS = 32;

/** The digests of a tool's record (`serializeDeclared`). If the text cannot be read, all of it counts as behaviour. */
export function computeAspects(text: string, source: DefinitionSource): Aspects {
  const parts = readAspectParts(text, source);
  if (parts === undefined) return { behaviour: computeShortHash(text, DIGITS), target: '', prose: '' };
  const { name, hints, hintLike, inputSchema, request, target } = parts;
  const { title, description, schemaText, icons, outputSchema } = parts;
  const behaviour = [name, HINTS.map((hint) => hints[hint]), hintLike, inputSchema, request];
  const prose = [title, description, schemaText, icons, outputSchema];
  return {
    behaviour: computeShortHash(JSON.stringify(behaviour), DIGITS),
    target,
    prose: computeShortHash(JSON.stringify(prose), DIGITS),
  };
}

/** Undefined if JSON readers would disagree on what the text means. */
export function readAspectParts(text: string, source: DefinitionSource): Parts | undefined {
  const read = parseExactJson(text);
  const members = read?.value;
  if (!isMembers(members) || hasDuplicateKeys(text, read)) return undefined;
  try {
    return partsIn(text, members, source);
  } catch {
    // Nested too deeply for the stack.
    return undefined;
  }
}

function partsIn(text: string, members: JsonObject, source: DefinitionSource): Parts {
  const annotations = isMembers(members['annotations']) ? members['annotations'] : {};
  const meta = isMembers(members['_meta']) ? members['_meta'] : {};
  const given = source.isMade ? members[FACTS_MEMBER] : undefined;
  const facts = isMembers(given) ? given : undefined;
  const texts: string[] = [];
  return {
    name: textOf(members['name']),
    hints: hintsOf(text, facts?.['method']),
    hintLike: textOf(Object.entries(annotations).filter(([key, value]) => isHintLike(key, value))),
    inputSchema: textOf(withoutTexts(members['inputSchema'], texts)),
    request: textOf(facts && { ...facts, target: null }),
    target: source.isTargetChosen === true ? '' : textOf(facts?.['target']),
    title: textOf([members['title'] ?? null, annotations['title'] ?? null]),
    description: textOf(members['description']),
    schemaText: textOf(texts),
    icons: textOf(members['icons']),
    outputSchema: textOf(members['outputSchema']),
    meta: textOf(meta),
  };
}

function textOf(value: unknown): string {
  return value === undefined ? '' : serializeCanonical(value);
}

/** The hints according to the tool's own source, without overrides. */
function hintsOf(text: string, method: unknown): Hints {
  const { hints } = readDeclared(text);
  const inferred = typeof method === 'string' ? inferFromMethod(method)?.hints : undefined;
  const claims = HINTS.flatMap((hint): readonly Claim[] => {
    const claim = { hint, source: 'server', origin: '', atMs: 0, digest: '', mayLower: true } as const;
    const [declared, followed] = [hints[hint], inferred?.[hint]];
    return [
      ...(declared === undefined ? [] : [{ ...claim, kind: 'declared' as const, value: declared }]),
      ...(followed === undefined ? [] : [{ ...claim, kind: 'inferred' as const, value: followed }]),
    ];
  });
  const resolved = resolveHints(claims, '');
  return Object.fromEntries(HINTS.map((hint) => [hint, resolved[hint].effective.value])) as unknown as Hints; // every hint was visited
}

function isHintLike(key: string, value: unknown): boolean {
  const hint = findMeantHint(key);
  return hint !== undefined && (key !== hint || typeof value !== 'boolean');
}

/** Keywords with a schema, a list of schemas, or a map from names to schemas (JSON Schema 2020-12 and draft 7). */
const SCHEMAS: ReadonlySet<string> = new Set(
  'additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
);
const MAPS: ReadonlySet<string> = new Set(
  '$defs definitions dependentSchemas patternProperties properties'.split(' '),
);
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', '$comment']);

/** A schema without its descriptive texts, which are added to `texts`. Unknown keywords are kept whole. */
function withoutTexts(schema: unknown, texts: string[]): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withoutTexts(one, texts));
  if (!isMembers(schema)) return schema;
  const kept = sorted(schema).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (TEXTS.has(key) && typeof value === 'string') {
      texts.push(value);
      return [];
    }
    if (SCHEMAS.has(key)) return [[key, withoutTexts(value, texts)]];
    if (!MAPS.has(key) || !isMembers(value)) return [[key, value]];
    const named = sorted(value).map(([name, one]) => [name, withoutTexts(one, texts)] as const);
    return [[key, Object.fromEntries(named)]];
  });
  return Object.fromEntries(kept);
}

function sorted(members: JsonObject): readonly (readonly [string, unknown])[] {
  return Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1));
}
