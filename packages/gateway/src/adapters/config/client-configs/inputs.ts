import { getNodeValue, type Node } from 'jsonc-parser';
import { getTreeMembers } from '../json-tree.ts';

/** A value for which VS Code prompts the user. */
export interface Input {
  /** The environment variable that replaces it. */
  readonly variable: string;
  /** `${NAME}`, or `${NAME:-default}` if the client has a default. */
  readonly reference: string;
  /** The prompt. */
  readonly about: string | undefined;
}

/** By id. */
export type Inputs = ReadonlyMap<string, Input>;

/**
 * The inputs of a file, https://code.visualstudio.com/docs/reference/variables-reference#_input-variables. Each gets
 * its own variable, so that no server receives another's secret.
 */
export function readInputs(root: Node): Inputs {
  const inputs = new Map<string, Input>();
  const taken = new Set<string>();
  const list = getTreeMembers(root).find(({ key }) => key === 'inputs')?.value;
  for (const node of list?.type === 'array' ? (list.children ?? []) : []) {
    const { id, description, default: given } = readTexts(node);
    if (id === undefined || inputs.has(id)) continue;
    const name = toVariableName(id);
    let variable = name;
    for (let count = 2; taken.has(variable); count += 1) variable = `${name}_${count}`;
    taken.add(variable);
    // A brace in the default would end the reference early.
    const fallback = given === undefined || /[{}]/.test(given) ? '' : `:-${given}`;
    inputs.set(id, { variable, reference: `\${${variable}${fallback}}`, about: description });
  }
  return inputs;
}

/** `github-token` → `GITHUB_TOKEN` */
export function toVariableName(id: string): string {
  const name = id.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}

function readTexts(node: Node): Readonly<Record<string, string | undefined>> {
  const members = node.type === 'object' ? getTreeMembers(node) : [];
  return Object.fromEntries(
    members.map(({ key, value }) => [key, value.type === 'string' ? String(getNodeValue(value)) : undefined]),
  );
}
