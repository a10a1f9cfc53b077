import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatCause } from '../../../core/cause.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import { getTaskProcessOptions } from '@assay-mcp/kit/platform/task-process';
import { PieceReader } from './document-pieces.ts';
import type { DocumentTask, FromDocumentWorker } from './document-worker.ts';
import { type ParsedDocument, formatParseFault, parseText } from './parse-document.ts';

/** Parses a JSON or YAML text within limits. The error is a phrase that follows the document's name. */
export type ParseDocument = (
  text: string,
  url: string,
  signal: AbortSignal,
) => Promise<Result<ParsedDocument, string>>;

interface ParseLimits {
  /** Time limit of one document in ms. */
  readonly documentMs: number;
  /** Maximum heap size of the process that parses it. */
  readonly heapMiB: number;
}

const LIMITS: ParseLimits = { documentMs: 60_000, heapMiB: 1_024 };

/** A text of this length takes some 20 ms to parse, and starting a process some 100 ms. */
const SMALL_CHARACTERS = 32 * 1024;
/** More values than such a text contains, unless its aliases multiply them. */
const SMALL_VALUES = 20_000;

/** The build places it next to the program. */
const SCRIPT = fileURLToPath(new URL(`./document-worker${extname(import.meta.url)}`, import.meta.url));

/**
 * Parses small documents at once, and larger ones in a process each, one after the other. A thread would not do: a
 * single allocation beyond a thread's heap limit ends the whole program (docs/adr/0044).
 */
export function createDocumentParser(launcher: Launcher, limits: Partial<ParseLimits> = {}): ParseDocument {
  const all = { ...LIMITS, ...limits };
  let last: Promise<unknown> = Promise.resolve();
  return async (text, url, signal) => {
    if (text.length <= SMALL_CHARACTERS) {
      const parsed = await parseText(text, url, SMALL_VALUES);
      if (parsed.ok) return parsed;
      if (parsed.error.code !== 'values_limit') return err(formatParseFault(parsed.error));
    }
    const turn = last.then(() => parseInProcess(launcher, all, { text, url, signal }));
    last = turn.catch(() => undefined);
    return turn;
  };
}

interface Parsing {
  readonly text: string;
  readonly url: string;
  readonly signal: AbortSignal;
}

async function parseInProcess(
  launcher: Launcher,
  { documentMs, heapMiB }: ParseLimits,
  { text, url, signal }: Parsing,
): Promise<Result<ParsedDocument, string>> {
  if (signal.aborted) return err(NOT_READ);
  const { promise, resolve } = Promise.withResolvers<Result<ParsedDocument, string>>();
  const child = launcher.launch(getTaskProcessOptions(SCRIPT, heapMiB));
  const reader = new PieceReader();
  const lines = new LineSplitter(Number.POSITIVE_INFINITY, {
    line: (line) => {
      const message = JSON.parse(line.toString()) as FromDocumentWorker; // our own script wrote it
      if (message.kind === 'piece') reader.take(message.piece);
      else if (message.kind === 'fault') resolve(err(message.reason));
      else resolve(ok({ value: reader.value, others: message.others }));
    },
    tooLong: () => undefined,
  });
  child.onOutput((chunk) => lines.push(chunk));
  let ranOutOfHeap = false;
  child.onErrorOutput((chunk) => {
    ranOutOfHeap ||= chunk.includes('JavaScript heap out of memory');
  });
  const timer = setTimeout(() => {
    resolve(err(`takes longer than ${documentMs / 1_000} s to parse: ${REMEDY}`));
  }, documentMs);
  const stop = (): void => resolve(err(NOT_READ));
  signal.addEventListener('abort', stop);
  void child.ended.then(async (end) => {
    await child.errorOutputRead;
    resolve(
      err(
        ranOutOfHeap
          ? `takes more than ${heapMiB} MiB of memory to parse: ${REMEDY}`
          : `could not be parsed: the process for it ${formatCause(end)}`,
      ),
    );
  });
  const bytes = Buffer.from(text);
  const task: DocumentTask = { url, bytes: bytes.length };
  child.write([Buffer.from(`${JSON.stringify(task)}\n`), bytes]);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    child.signal('SIGKILL');
    await child.ended;
  }
}

const NOT_READ = 'was not read to its end';
const REMEDY = 'use JSON instead of YAML, split it into several documents, or remove what is not needed';
