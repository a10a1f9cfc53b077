import type { MadeTool } from './made-tool.ts';

const TEXTS = new WeakMap<MadeTool, string>();

/** JSON text of a definition, with its title in both places where clients look for one; made once. */
export function definitionText(tool: MadeTool): string {
  const known = TEXTS.get(tool);
  if (known !== undefined) return known;
  const { name, title = titleOf(name), description, annotations, ...rest } = tool.definition;
  const text = JSON.stringify({
    name,
    title,
    ...(description !== undefined && { description }),
    ...rest,
    annotations: { ...annotations, title },
  });
  TEXTS.set(tool, text);
  return text;
}

/** `get-userById`: Get user by id. */
function titleOf(name: string): string {
  const words = name
    .replace(/(?<=[a-z0-9])[A-Z](?=[a-z])/g, (start) => ` ${start.toLowerCase()}`)
    .replace(/[._/-]+/g, ' ')
    .trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
