import type { Definition } from '../ports.ts';
import type { CountTokens } from '../ports/text-meter.ts';

const COSTS = new WeakMap<Definition, number>();

/** How many tokens a model reads for this tool: its name, description and input schema. Counted once. */
export function costOf(definition: Definition, countTokens: CountTokens): number {
  const known = COSTS.get(definition);
  if (known !== undefined) return known;
  const cost = countTokens(readByModels(definition));
  COSTS.set(definition, cost);
  return cost;
}

/** The parts of a definition that clients give to their model. */
function readByModels({ bytes }: Definition): string {
  try {
    const { name, description, inputSchema } = JSON.parse(bytes.toString()) as Readonly<
      Record<string, unknown>
    >;
    return JSON.stringify({ name, description, inputSchema });
  } catch {
    return bytes.toString();
  }
}
