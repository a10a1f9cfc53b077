import {
  findHeaderParameters,
  mayHaveHeaderParameters,
  readHeaderParameters,
} from '@assay-mcp/protocol/header-parameters';
import type { ToolFacts } from '../../core/hints/tool-facts.ts';
import type { ListedKind } from '@assay-mcp/protocol/definition-rules';
import { findTwinFault } from '@assay-mcp/protocol/definition-twins';
import { describeDanglingReference } from '@assay-mcp/protocol/dangling-reference';
import { checkListable } from '@assay-mcp/protocol/listable';
import { scanObject } from '@assay-mcp/protocol/scan';
import { MAX_DEPTH } from '@assay-mcp/protocol/scanner';
import { buildPlan, type Plan } from '@assay-mcp/protocol/spans';
import type { Definition, Fitness } from '../ports/link.ts';
import { parseJson } from '@assay-mcp/kit/json-object';

export interface EntrySource {
  readonly kind: ListedKind;
  /** The member that names an entry. */
  readonly key: string;
  /** Entries of the last reading, by key. */
  readonly known: ReadonlyMap<string | undefined, Definition>;
  /** Whether the server is reached over HTTP, whose headers must repeat some tool arguments. */
  readonly hasHeaders: boolean;
  readonly factsOf?: ((key: string) => ToolFacts | undefined) | undefined;
}

/** Whether an entry is certainly unchanged since the last reading and need not be checked again. */
export function isUnchanged(
  slice: Buffer,
  before: Definition | undefined,
  source: EntrySource,
): before is Definition {
  // A definition withheld from modern clients may become visible, depending on how its server is reached.
  return before?.fitness.modern.kind !== 'withheld' && isSame(slice, before, source);
}

function isSame(
  slice: Buffer,
  before: Definition | undefined,
  { factsOf }: EntrySource,
): before is Definition {
  if (before?.bytes.equals(slice) !== true) return false;
  const facts = before.key === undefined ? undefined : factsOf?.(before.key);
  return before.facts === facts || JSON.stringify(before.facts) === JSON.stringify(facts);
}

/** Reads one entry of a list. An unchanged one is the same object as before. */
export function readDefinition(slice: Buffer, source: EntrySource): Definition {
  const { kind, key: keyName, known, hasHeaders, factsOf } = source;
  const text = slice.toString();
  const parsed = parseJson(text);
  const named = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Readonly<
    Record<string, unknown>
  >;
  const value = named[keyName];
  const key = typeof value === 'string' ? value : undefined;
  const before = known.get(key);
  const isKnown = isSame(slice, before, source);
  // Whether invalid header parameters affect legacy clients depends on how the server is reached, which may change.
  const isSound =
    kind !== 'tool' || !mayHaveHeaderParameters(slice) || readHeaderParameters(named['inputSchema']).ok;
  if (isKnown && isSound) return before;
  const fitness = fitnessOf({ slice, text, parsed }, { kind, isRejected: hasHeaders && !isSound });
  if (isKnown && before.fitness.legacy.kind === fitness.legacy.kind) return before;
  const parameters =
    kind === 'tool' && fitness.modern.kind !== 'withheld' ? findHeaderParameters(slice) : undefined;
  // A copy, so that one small entry does not keep a whole page in memory.
  const facts = key === undefined ? undefined : factsOf?.(key);
  const danglingReference = kind === 'tool' ? describeDanglingReference(slice) : undefined;
  return {
    ...{ key, bytes: Buffer.from(slice), fitness, parameters, ...(facts && { facts }) },
    ...(danglingReference !== undefined && { danglingReference }),
  };
}

const TOO_DEEP: Fitness = { kind: 'withheld', reason: `it is nested more than ${MAX_DEPTH} deep` };

interface Written {
  readonly slice: Buffer;
  readonly text: string;
  readonly parsed: unknown;
}

/**
 * `isRejected`: clients over HTTP must reject it (2026-07-28, server/tools#x-mcp-header), so it is withheld from all.
 */
function fitnessOf(
  { slice, text, parsed }: Written,
  { kind, isRejected }: { readonly kind: ListedKind; readonly isRejected: boolean },
): Definition['fitness'] {
  if (isTooDeep(slice)) return { legacy: TOO_DEEP, modern: TOO_DEEP };
  const reason = parsed === undefined ? undefined : findTwinFault(kind, text, parsed);
  if (reason !== undefined)
    return { legacy: { kind: 'withheld', reason }, modern: { kind: 'withheld', reason } };
  const modern = checkListable(kind, 'modern', parsed);
  return { legacy: isRejected ? modern : checkListable(kind, 'legacy', parsed), modern };
}

const NO_PLAN: Plan = buildPlan({});

function isTooDeep(bytes: Buffer): boolean {
  const scan = scanObject(bytes, { plan: NO_PLAN, strict: false });
  return !scan.ok && scan.fault.isJson;
}
