import type { Cause } from '../../../core/cause.ts';
import type { UrlChooser } from '../../../core/reach.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { BuiltInSource, BuiltInTools } from '../built-in-tool.ts';
import { openDocumentTexts, type DocumentTexts, type TextOptions } from './document-texts.ts';
import { areUnchanged, loadDocuments, MAX_DOCUMENT_BYTES } from './load-documents.ts';
import { makeTools, type MakingOptions } from './make-tools.ts';
import type { ServerPlace } from './servers.ts';
import { lookAtFile, watchDocuments, type WatchFile } from './watch-documents.ts';

export interface OpenapiOptions extends TextOptions, Omit<MakingOptions, 'documents' | 'chooserOf'> {
  /** How a document that is a file is watched; absent: it is looked at every now and then. */
  readonly watch?: WatchFile | undefined;
}

/**
 * The operations of an OpenAPI document (3.0 and 3.1, in JSON or YAML) as tools. An operation that cannot be called is
 * skipped and says why; it costs no other. Calls need no answer of the document's server: only `read` goes there.
 */
export function openOpenapi(options: OpenapiOptions): BuiltInSource {
  const texts = openDocumentTexts(options);
  const watching = watchDocuments(options.watch ?? lookAtFile);
  if (texts.ok) watching.follow([texts.value.root]);
  let kept: Kept | undefined;
  return {
    read: async (signal) => {
      if (!texts.ok) return err({ code: 'DOCUMENT_UNREADABLE', reason: texts.error });
      const within = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]);
      try {
        const read = await readTools(texts.value, options, { kept, signal: within });
        if (!read.ok) return err(within.aborted && !signal.aborted ? tooSlow(options) : read.error);
        kept = read.value;
        // What may not be read is not watched either.
        watching.follow([...kept.texts].flatMap(([url, text]) => (text === undefined ? [] : [url])));
        return ok(kept.tools);
      } catch (error) {
        // A document that somebody else wrote must not stop the program, whatever of it was not thought of.
        const reason = error instanceof Error ? error.message : '';
        return err({ code: 'READING_FAILED', error: reason.slice(0, 200) });
      }
    },
    onChange: (listener) => watching.onChange(listener),
    close: async () => {
      watching.close();
      kept = undefined;
      await Promise.resolve();
    },
  };
}

/** What was read last. */
interface Kept {
  readonly texts: ReadonlyMap<string, string | undefined>;
  readonly tools: BuiltInTools;
}

interface Reading {
  readonly kept: Kept | undefined;
  readonly signal: AbortSignal;
}

async function readTools(
  texts: DocumentTexts,
  options: OpenapiOptions,
  { kept, signal }: Reading,
): Promise<Result<Kept, Cause>> {
  const limits = { maxBytes: MAX_DOCUMENT_BYTES, signal };
  const text = await texts.read(texts.root, limits);
  if (!text.ok) return err({ code: 'DOCUMENT_UNREADABLE', reason: text.error });
  if (kept?.texts.get(texts.root) === text.value && (await areUnchanged(texts, kept.texts, limits)))
    return ok(kept);
  const loaded = await loadDocuments(texts, text.value, signal);
  if (!loaded.ok) return invalid(loaded.error);
  const { documents, texts: seen } = loaded.value;
  const chooserOf = (server: ServerPlace): UrlChooser =>
    server.at === undefined ? options.chosenBy : texts.chooserOf(server.url, server.at);
  const tools = await makeTools({ ...options, documents, chooserOf }, signal);
  return tools.ok ? ok({ texts: seen, tools: tools.value }) : invalid(tools.error);
}

function invalid(reason: string): Result<never, Cause> {
  return err({ code: 'DOCUMENT_INVALID', reason });
}

function tooSlow({ timeoutMs }: OpenapiOptions): Cause {
  return { code: 'DOCUMENT_TIMEOUT', limitMs: timeoutMs };
}
