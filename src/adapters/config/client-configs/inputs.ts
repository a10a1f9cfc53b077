import { getNodeValue, type Node } from 'jsonc-parser';
import { membersOf } from '../json-tree.ts';

/** What VS Code would ask its user for. */
export interface Input {
  /** The variable that takes its place. */
  readonly variable: string;
  /** `${NAME}`, or `${NAME:-default}` where the client offers a default. */
  readonly reference: string;
  /** The question. */
  readonly about: string | undefined;
}

/** By id. */
export type Inputs = ReadonlyMap<string, Input>;

/**
 * The inputs of a file, https://code.visualstudio.com/docs/reference/variables-reference#_input-variables. Each gets a
 * variable of its own, so that no server receives the secret of another.
 */
export function readInputs(root: Node): Inputs {
  const inputs = new Map<string, Input>();
  const taken = new Set<string>();
  const list = membersOf(root).find(({ key }) => key === 'inputs')?.value;
  for (const node of list?.type === 'array' ? (list.children ?? []) : []) {
    const { id, description, default: given } = textsOf(node);
    if (id === undefined || inputs.has(id)) continue;
    const name = variableOf(id);
    let variable = name;
    for (let count = 2; taken.has(variable); count += 1) variable = `${name}_${count}`;
    taken.add(variable);
    // A brace would end the reference in the middle of the default.
    const fallback = given === undefined || /[{}]/.test(given) ? '' : `:-${given}`;
    inputs.set(id, { variable, reference: `\${${variable}${fallback}}`, about: description });
  }
  return inputs;
}

/** `github-token` → `GITHUB_TOKEN` */
export function variableOf(id: string): string {
  const name = id.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}

function textsOf(node: Node): Readonly<Record<string, string | undefined>> {
  const members = node.type === 'object' ? membersOf(node) : [];
  return Object.fromEntries(
    members.map(({ key, value }) => [key, value.type === 'string' ? String(getNodeValue(value)) : undefined]),
  );
}
