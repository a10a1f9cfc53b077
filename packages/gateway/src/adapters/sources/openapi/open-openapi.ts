import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cause } from '../../../core/cause.ts';
import type { UrlChooser } from '../../../core/reach-rules.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { BuiltInSource, BuiltInTools } from '../built-in-tool.ts';
import type { WatchFile } from '@assay-mcp/kit/platform/watch-file';
import { FileWatch } from '../file-watch.ts';
import type { ParseDocument } from './document-parser.ts';
import { type DocumentTexts, openDocumentTexts, type TextOptions } from './document-texts.ts';
import { areUnchanged, loadDocuments, MAX_DOCUMENT_BYTES } from './documents.ts';
import { makeTools, type MakingOptions } from './make-tools.ts';
import type { RequestTarget } from './servers-and-security.ts';
import { truncateText } from '@assay-mcp/kit/shorten';
import { Listeners } from '../../../core/listeners.ts';

export type OpenapiOptions = TextOptions &
  Omit<MakingOptions, 'documents' | 'chooserOf'> & {
    readonly parse: ParseDocument;
    readonly watch?: WatchFile;
  };

/**
 * The operations of an OpenAPI document (3.0 or 3.1, JSON or YAML) as tools. An operation that cannot be called is
 * skipped with a reason. Only `read` contacts the document's server; calls do not need it.
 */
export function openOpenapi(options: OpenapiOptions): BuiltInSource {
  const texts = openDocumentTexts(options);
  const listeners = new Listeners();
  const watching = new FileWatch(options.watch, () => listeners.notify());
  let files = filesIn(texts.ok ? [texts.value.root] : []);
  let kept: LoadedDocument | undefined;
  return {
    read: async (signal) => {
      const document = shownDocument(options);
      if (!texts.ok) return err({ code: 'DOCUMENT_UNREADABLE', document, reason: texts.error });
      const within = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]);
      try {
        const read = await readTools(texts.value, options, { kept, signal: within });
        if (!read.ok)
          return err({ document, ...(within.aborted && !signal.aborted ? tooSlow(options) : read.error) });
        kept = read.value;
        // Documents that could not be read are not watched.
        files = filesIn([...kept.texts].flatMap(([url, text]) => (text === undefined ? [] : [url])));
        if (listeners.size > 0) watching.follow(files);
        return ok(kept.tools);
      } catch (error) {
        // A third-party document must not crash the program, even in a case that we missed.
        const reason = error instanceof Error ? error.message : '';
        return err({ code: 'READING_FAILED', error: truncateText(reason, 200) });
      }
    },
    onChange: (listener) => {
      watching.follow(files);
      return listeners.add(listener);
    },
    close: () => {
      kept = undefined;
      watching.close();
      return Promise.resolve();
    },
  };
}

function filesIn(urls: readonly string[]): readonly string[] {
  return urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
}

type DocumentFault = Extract<Cause, { readonly code: `DOCUMENT_${string}` }>;

/** Result of the last read. */
interface LoadedDocument {
  readonly texts: ReadonlyMap<string, string | undefined>;
  readonly tools: BuiltInTools;
}

interface Reading {
  readonly kept: LoadedDocument | undefined;
  readonly signal: AbortSignal;
}

async function readTools(
  texts: DocumentTexts,
  options: OpenapiOptions,
  { kept, signal }: Reading,
): Promise<Result<LoadedDocument, DocumentFault>> {
  const limits = { maxBytes: MAX_DOCUMENT_BYTES, signal };
  const text = await texts.read(texts.root, limits);
  if (!text.ok) return err({ code: 'DOCUMENT_UNREADABLE', reason: text.error });
  if (kept?.texts.get(texts.root) === text.value && (await areUnchanged(texts, kept.texts, limits)))
    return ok(kept);
  const loaded = await loadDocuments(texts, text.value, { parse: options.parse, signal });
  if (!loaded.ok) return invalid(loaded.error);
  const { documents, texts: seen } = loaded.value;
  const chooserOf = (server: RequestTarget): UrlChooser =>
    server.at === undefined ? options.chosenBy : texts.chooserOf(server.url, server.at);
  const tools = await makeTools({ ...options, documents, chooserOf }, signal);
  return tools.ok ? ok({ texts: seen, tools: tools.value }) : invalid(tools.error);
}

function invalid(reason: string): Result<never, DocumentFault> {
  return err({ code: 'DOCUMENT_INVALID', reason });
}

function tooSlow({ timeoutMs }: OpenapiOptions): DocumentFault {
  return { code: 'DOCUMENT_TIMEOUT', limitMs: timeoutMs };
}

/** For causes. A URL may contain a key in its user or its query. Undefined for an uploaded document. */
function shownDocument({ document, text }: OpenapiOptions): string | undefined {
  if (text !== undefined) return undefined;
  const url = isAbsolute(document) ? null : URL.parse(document);
  if (url === null) return document;
  [url.username, url.password, url.search, url.hash] = ['', '', '', ''];
  return url.href;
}
