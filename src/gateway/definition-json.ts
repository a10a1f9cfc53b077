import type { Definition } from './ports.ts';

/** A definition as a JSON object; an empty one where it is none. */
export function definitionJson({ bytes }: Definition): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
