import type { BuiltInTool } from './built-in-tool.ts';

const TEXTS = new WeakMap<Pick<BuiltInTool, 'definition'>, string>();

/** JSON text of a definition, with a title in both places where clients look for one; made once. What its maker wrote stays; where that is
 * nothing, its name becomes a title. */
export function definitionText(tool: BuiltInTool | Pick<BuiltInTool, 'definition'>): string {
  const known = TEXTS.get(tool);
  if (known !== undefined) return known;
  const { name, description, annotations, title: given, ...rest } = tool.definition;
  const own = annotations?.['title'];
  const title = given ?? (isTitle(own) ? own : titleOf(name));
  const text = JSON.stringify({
    name,
    title,
    ...(description !== undefined && { description }),
    ...rest,
    annotations: { ...annotations, title: isTitle(own) ? own : title },
  });
  TEXTS.set(tool, text);
  return text;
}

function isTitle(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** `get-userById`: Get user by id. */
function titleOf(name: string): string {
  const words = name
    .replace(/(?<=[a-z0-9])[A-Z](?=[a-z])/g, (start) => ` ${start.toLowerCase()}`)
    .replace(/[._/-]+/g, ' ')
    .trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
