import { ENTRY_KINDS } from './bundle.ts';
import type { EntrySecrets } from './entry-secrets.ts';

/** What was sealed with a bundle; undefined where something else was. */
export function readEntrySecrets(text: string): readonly EntrySecrets[] | undefined {
  const value = parsed(text);
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  return items.every(isEntrySecrets) ? items : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEntrySecrets(value: unknown): value is EntrySecrets {
  if (!isObject(value)) return false;
  const { kind, name, place, members } = value;
  return (
    ENTRY_KINDS.some((known) => known === kind) &&
    typeof name === 'string' &&
    typeof place === 'string' &&
    isObject(members)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
