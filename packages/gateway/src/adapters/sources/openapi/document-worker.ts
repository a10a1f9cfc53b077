import { splitDocument, type Piece } from './document-pieces.ts';
import { MAX_VALUES, formatParseFault, parseText } from './parse-document.ts';

/** First line of the input, as JSON. As many bytes of text in UTF-8 follow. */
export interface DocumentTask {
  readonly url: string;
  readonly bytes: number;
}

/** One line each. The last one is not a piece. */
export type FromDocumentWorker =
  | { readonly kind: 'piece'; readonly piece: Piece }
  | { readonly kind: 'parsed'; readonly others: readonly string[] }
  /** A phrase that follows the document's name. */
  | { readonly kind: 'fault'; readonly reason: string };

/** Twice as much as the largest document. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

const tell = (message: FromDocumentWorker): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

async function parse(url: string, text: string): Promise<void> {
  const parsed = await parseText(text, url, MAX_VALUES);
  if (!parsed.ok) {
    tell({ kind: 'fault', reason: formatParseFault(parsed.error) });
    return;
  }
  const pieces = splitDocument(parsed.value.value, MAX_CHARACTERS);
  if (pieces === undefined) {
    tell({ kind: 'fault', reason: 'contains too much text, perhaps through its aliases' });
    return;
  }
  for (const piece of pieces) tell({ kind: 'piece', piece });
  tell({ kind: 'parsed', others: parsed.value.others });
}

let task: DocumentTask | undefined;
let chunks: Buffer[] = [];
let length = 0;
process.stdin.on('data', (chunk: Buffer) => {
  let rest = chunk;
  if (task === undefined) {
    const end = chunk.indexOf(LINE_FEED);
    chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
    if (end < 0) return;
    task = JSON.parse(Buffer.concat(chunks).toString()) as DocumentTask; // `ParseDocument` wrote it
    chunks = [];
    rest = chunk.subarray(end + 1);
  }
  chunks.push(rest);
  length += rest.length;
  if (length < task.bytes) return;
  const text = Buffer.concat(chunks).toString();
  chunks = [];
  void parse(task.url, text);
});
