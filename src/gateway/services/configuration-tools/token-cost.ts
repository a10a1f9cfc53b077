import { definitionJson } from '../../catalog/definition-facts.ts';
import type { Definition } from '../../ports/link.ts';
import type { CountTokens } from '../../ports/count-tokens.ts';

const COSTS = new WeakMap<Definition, number>();

/** How many tokens a model reads for this tool: its server's name, description and input schema. Cached. */
export function costOf(definition: Definition, countTokens: CountTokens): number {
  const known = COSTS.get(definition);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = definitionJson(definition);
  const cost = countTokens(JSON.stringify({ name, description, inputSchema }));
  COSTS.set(definition, cost);
  return cost;
}
