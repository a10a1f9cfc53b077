import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { readText } from './files.ts';

type Read = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: string };

/** Reads a UTF-8 file of at most `maxBytes`; only regular files, since others may never end. The error is a phrase. */
export async function readTextWithin(path: string, maxBytes: number): Promise<Read> {
  const fault = faultOf(await stat(path).catch(() => undefined), maxBytes);
  if (fault !== undefined) return { ok: false, error: fault };
  const text = await readText(path);
  return text.ok ? text : { ok: false, error: text.error.reason };
}

/** The same, synchronously, for small files that are read at start. */
export function readTextWithinNow(path: string, maxBytes: number): Read {
  try {
    const fault = faultOf(statSync(path, { throwIfNoEntry: false }), maxBytes);
    if (fault !== undefined) return { ok: false, error: fault };
    const bytes = readFileSync(path);
    return isUtf8(bytes)
      ? { ok: true, value: bytes.toString('utf8').replace(/^\uFEFF/, '') }
      : { ok: false, error: 'it is no UTF-8 text' };
  } catch {
    return { ok: false, error: ABSENT };
  }
}

const ABSENT = 'there is no such file, or it may not be read';

function faultOf(facts: Stats | undefined, maxBytes: number): string | undefined {
  if (facts === undefined) return ABSENT;
  if (!facts.isFile()) return 'it is no plain file';
  return facts.size > maxBytes ? `it has more than ${maxBytes} bytes` : undefined;
}
