import type { MadeResult } from './made-tool.ts';

/** A result of one text. */
export function said(text: string): MadeResult {
  return { content: [{ type: 'text', text }] };
}

/** One that tells a model what went wrong. */
export function refused(text: string): MadeResult {
  return { ...said(text), isError: true };
}
