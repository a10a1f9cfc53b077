import { stat } from 'node:fs/promises';
import { readText } from './files.ts';

type Read = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: string };

/** Reads a UTF-8 file of at most `maxBytes`; only regular files, since others may never end. The error is a phrase. */
export async function readTextWithin(path: string, maxBytes: number): Promise<Read> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) return { ok: false, error: 'there is no such file, or it may not be read' };
  if (!facts.isFile()) return { ok: false, error: 'it is no plain file' };
  if (facts.size > maxBytes) return { ok: false, error: `it has more than ${maxBytes} bytes` };
  const text = await readText(path);
  return text.ok ? text : { ok: false, error: text.error.reason };
}
