import { parseDefinition } from '../../catalog/definition-facts.ts';
import type { Definition } from '../../ports/link.ts';
import type { CountTokens } from '../../ports/telemetry.ts';

const COSTS = new WeakMap<Definition, number>();

/** Number of tokens that a model reads for this tool: its own name, description and input schema. Cached. */
export function countToolTokens(definition: Definition, countTokens: CountTokens): number {
  const known = COSTS.get(definition);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = parseDefinition(definition);
  const cost = countTokens(JSON.stringify({ name, description, inputSchema }));
  COSTS.set(definition, cost);
  return cost;
}

/** Number of tokens that a model reads for all of these. */
export function sumToolTokens(
  tools: readonly { readonly definition: Definition }[],
  countTokens: CountTokens,
): number {
  return tools.reduce((sum, { definition }) => sum + countToolTokens(definition, countTokens), 0);
}
