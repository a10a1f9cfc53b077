import { err, ok, type Result } from '../../../core/result.ts';
import type { DocumentTexts, TextLimits } from './document-texts.ts';
import { openDocuments, withoutHash, type Documents } from './documents.ts';
import { parseDocument } from './parse-document.ts';

export const MAX_DOCUMENT_BYTES: number = 32 * 1024 * 1024;
const MAX_OTHER_BYTES = 4 * 1024 * 1024;
const MOST_OTHERS = 100;
const AT_A_TIME = 8;

export interface LoadedDocuments {
  readonly documents: Documents;
  /** What each URL brought; undefined: nothing. */
  readonly texts: ReadonlyMap<string, string | undefined>;
}

/**
 * The document with all documents that it refers to. One of those that cannot be had is no failure of the whole: whatever
 * needs it says why. The error is a phrase about the document itself.
 */
export async function loadDocuments(
  texts: DocumentTexts,
  rootText: string,
  signal: AbortSignal,
): Promise<Result<LoadedDocuments, string>> {
  const { root } = texts;
  const parsed = await parseDocument(rootText, root);
  if (!parsed.ok) return parsed;
  const loaded = new Map<string, Result<unknown, string>>([[root, parsed]]);
  const seen = new Map<string, string | undefined>([[root, rootText]]);
  let bytesLeft = MAX_DOCUMENT_BYTES - rootText.length;
  const load = async ([url, namedAt]: Reference): Promise<readonly Reference[]> => {
    const maxBytes = Math.max(0, Math.min(MAX_OTHER_BYTES, bytesLeft));
    const text = await texts.read(url, { maxBytes, signal }, namedAt);
    seen.set(url, text.ok ? text.value : undefined);
    bytesLeft -= text.ok ? text.value.length : 0;
    const value = text.ok ? await parseDocument(text.value, url) : text;
    loaded.set(url, bytesLeft < 0 ? err('it is too large, with all that the document refers to') : value);
    return value.ok ? othersIn(value.value, url) : [];
  };
  let wanted = new Map(othersIn(parsed.value, root));
  while (wanted.size > 0) {
    const batch = [...wanted].slice(0, AT_A_TIME);
    if (loaded.size + batch.length > MOST_OTHERS + 1) {
      for (const url of wanted.keys()) loaded.set(url, err(`it is one of more than ${MOST_OTHERS} others`));
      break;
    }
    const found = await Promise.all(batch.map(load));
    // Whoever named a document first is who had it read.
    wanted = new Map([...found.flat(), ...wanted].filter(([url]) => !loaded.has(url)));
  }
  return ok({ documents: openDocuments({ value: parsed.value, at: root }, loaded), texts: seen });
}

/** Whether every document still says what it said. */
export async function areUnchanged(
  texts: DocumentTexts,
  former: ReadonlyMap<string, string | undefined>,
  limits: TextLimits,
): Promise<boolean> {
  for (const [url, text] of former) {
    if (url === texts.root) continue;
    const now = await texts.read(url, { ...limits, maxBytes: MAX_OTHER_BYTES });
    if ((now.ok ? now.value : undefined) !== text) return false;
  }
  return true;
}

/** The URL of a document, and of the one that refers to it. */
type Reference = readonly [url: string, namedAt: string];

/** The other documents that a document refers to, each once. */
function othersIn(document: unknown, at: string): readonly Reference[] {
  const others = new Set<string>();
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const [key, member] of Object.entries(value)) {
      if (key === '$ref' && typeof member === 'string' && !member.startsWith('#')) {
        const url = URL.canParse(member, at) ? withoutHash(new URL(member, at)) : at;
        if (url !== at) others.add(url);
      } else visit(member);
    }
  };
  visit(document);
  return [...others].map((url) => [url, at]);
}
