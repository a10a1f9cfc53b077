import { type Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import { parseExactJson, isMembers } from '@assay-mcp/kit/canonical-json';
import { type BuiltInResult, toErrorResult, toTextResult } from '../built-in-tool.ts';
import type { Structure } from '../output-check.ts';
import type { FilterRunner } from './filter-processes.ts';
import { formatFilterFault, MAX_DEPTH, nestsTooDeeply, quoteAnswer } from './filter.ts';
import { type HttpAnswer, type HttpCall, type HttpPort, findRedirectTarget } from './open-http.ts';
import { formatAddress } from './request-secrets.ts';

/** The request of a call, ready to be sent. */
export type ReadyRequest = Pick<HttpCall, 'method' | 'url' | 'headers' | 'body' | 'secretHeaders'> & {
  readonly shownUrl: string;
};

interface SendOptions
  extends
    Pick<HttpCall, 'chosenBy' | 'maxBytes' | 'cancellation'>,
    Pick<AnswerOptions, 'filter' | 'structure'> {
  readonly http: HttpPort;
}

/** Sends a request and makes the tool result. Throws Cancelled. */
export async function fetchResult(request: ReadyRequest, options: SendOptions): Promise<BuiltInResult> {
  const { http, chosenBy, maxBytes, cancellation, filter, structure } = options;
  const answer = await http.send({ ...request, chosenBy, maxBytes, cancellation });
  if (!answer.ok) {
    if (cancellation.isCancelled) throw new Cancelled();
    return toErrorResult(answer.error);
  }
  return answerResult(answer.value, {
    filter,
    cancellation,
    structure,
    request: formatRequest(request),
    url: request.url,
  });
}

/** How messages name a request. */
export function formatRequest({ method, shownUrl }: ReadyRequest): string {
  return `${method} ${shownUrl}`;
}

interface AnswerFilter {
  readonly expression: string;
  readonly runner: FilterRunner;
}

interface AnswerOptions {
  readonly filter?: AnswerFilter | undefined;
  readonly cancellation: Cancellation;
  readonly structure: Structure;
  /** `GET https://host/path`, for messages: without the query or anything that looks like a key. */
  readonly request: string;
  /** Where the request went. */
  readonly url: URL;
}

/** The tool result of an answer, not checked against an output schema. */
async function answerResult(answer: HttpAnswer, options: AnswerOptions): Promise<BuiltInResult> {
  const body = readBody(answer);
  const { status } = answer;
  if (status >= 300) return failureOf(answer, body, options);
  switch (body.kind) {
    case 'empty':
      return toTextResult(`Done: the server answered ${status} and no content.${headerLines(answer)}`);
    case 'text':
      return textResult(answer, body.text, options);
    case 'image':
    case 'audio':
    case 'bytes':
      return bytesResult(answer, body, options);
  }
}

/** Headers worth showing when there is no body. */
const TELLING = ['location', 'content-type', 'content-length', 'last-modified', 'etag', 'allow'];

function headerLines({ headers }: HttpAnswer): string {
  const lines = TELLING.flatMap((name) => {
    const value = headers[name];
    return value === undefined || (name === 'content-length' && value === '0')
      ? []
      : [`\n${name}: ${String(value)}`];
  });
  return lines.join('');
}

async function textResult(answer: HttpAnswer, text: string, options: AnswerOptions): Promise<BuiltInResult> {
  const { filter, structure, request } = options;
  if (answer.isCut) {
    const notice = cutNotice(answer);
    if (filter === undefined && structure !== 'required')
      return toTextResult(`${text}\n\n[${notice}, and set a "filter" where less of it is wanted.]`);
    const reader = filter === undefined ? 'output schema' : 'filter';
    return toErrorResult(
      `The request ${request} was carried out, but the ${reader} needs its whole answer, which was ${notice}.`,
    );
  }
  if (filter !== undefined) return filteredResult(text, filter, options);
  if (structure === 'none') return toTextResult(text);
  if (nestsTooDeeply(text)) {
    if (structure === 'optional') return toTextResult(text);
    return toErrorResult(
      `The request ${request} was carried out, but its answer nests deeper than ${MAX_DEPTH} levels, which is not read.`,
    );
  }
  const value = parseExactJson(text)?.value;
  return isMembers(value) ? { ...toTextResult(text), structuredContent: value } : toTextResult(text);
}

async function filteredResult(
  text: string,
  { expression, runner }: AnswerFilter,
  { structure, request, cancellation }: AnswerOptions,
): Promise<BuiltInResult> {
  // A filter selects, so a result larger than its answer is hardly intended.
  const maxCharacters = Math.max(text.length, MIN_RESULT_LIMIT);
  const filtered = await runner.run({ expression, text, maxCharacters }, cancellation);
  if (!filtered.ok) return toErrorResult(formatFilterFault(filtered.error, { expression, request, text }));
  const value = structure !== 'none' ? parseExactJson(filtered.value)?.value : undefined;
  return isMembers(value)
    ? { ...toTextResult(filtered.value), structuredContent: value }
    : toTextResult(filtered.value);
}

const MIN_RESULT_LIMIT = 1024 * 1024;

function bytesResult(
  answer: HttpAnswer,
  { kind, mediaType }: Extract<AnswerBody, { readonly mediaType: string }>,
  { filter, request }: AnswerOptions,
): BuiltInResult {
  const what = `${answer.body.length} bytes of ${mediaType}`;
  if (filter !== undefined)
    return toErrorResult(`The filter works on JSON, and the answer to ${request} is ${what}.`);
  if (answer.isCut)
    return toErrorResult(
      `The answer to ${request} is ${mediaType}, of which a part is of no use: it was ${cutNotice(answer)}.`,
    );
  const data = answer.body.toString('base64');
  if (kind !== 'bytes') return { content: [{ type: kind, data, mimeType: mediaType }] };
  const resource = { uri: addressIn(request), mimeType: mediaType, blob: data };
  return {
    content: [
      { type: 'text', text: `The answer is ${what}.` },
      { type: 'resource', resource },
    ],
  };
}

function cutNotice({ body, headers }: HttpAnswer): string {
  const length = headers['content-length'];
  const isCoded = headers['content-encoding'] !== undefined;
  const whole = typeof length === 'string' && !isCoded ? ` of ${length}` : '';
  return `cut after ${body.length} bytes${whole}; raise "maxBytes"`;
}

function failureOf(answer: HttpAnswer, body: AnswerBody, { request, url }: AnswerOptions): BuiltInResult {
  const { status } = answer;
  const target = status < 400 ? findRedirectTarget(url, answer) : undefined;
  if (target !== undefined)
    return toErrorResult(
      `${request}: the server answered ${status} and points to ${formatAddress(target.origin, target.pathname)}. ` +
        'A request that may have an effect is not sent twice, so nothing was sent there.',
    );
  const { 'retry-after': wait } = answer.headers;
  const later = typeof wait === 'string' && wait.length < 50 ? ` It can be asked again after: ${wait}.` : '';
  return toErrorResult(
    `${request}: the server answered ${status}.${later} ${shownBody(answer, body)}`.trimEnd(),
  );
}

function shownBody({ body: bytes }: HttpAnswer, body: AnswerBody): string {
  if (body.kind === 'empty') return '';
  return body.kind === 'text'
    ? quoteAnswer(body.text)
    : `With it came ${bytes.length} bytes of ${body.mediaType}.`;
}

function addressIn(request: string): string {
  return request.slice(request.indexOf(' ') + 1);
}

/** A body, classified by its content type or else by its bytes. */
type AnswerBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image' | 'audio' | 'bytes'; readonly mediaType: string };

function readBody({ body, headers, isCut }: HttpAnswer): AnswerBody {
  if (body.length === 0) return { kind: 'empty' };
  const { mediaType, charset } = contentType(headers);
  if (TEXTUAL.test(mediaType)) return { kind: 'text', text: decode(body, charset, isCut) };
  if (mediaType.startsWith('image/')) return { kind: 'image', mediaType };
  if (mediaType.startsWith('audio/')) return { kind: 'audio', mediaType };
  const text = plainText(body);
  return text === undefined
    ? { kind: 'bytes', mediaType: mediaType === '' ? 'application/octet-stream' : mediaType }
    : { kind: 'text', text };
}

const TEXTUAL =
  /^text\/|[/+](?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|ndjson|yaml|sql|graphql|www-form-urlencoded|json-seq)$/;

interface ContentType {
  /** In lower case, without parameters; empty if there is no such header. */
  readonly mediaType: string;
  readonly charset: string | undefined;
}

function contentType(headers: HttpAnswer['headers']): ContentType {
  const line = headers['content-type'];
  const header = typeof line === 'string' ? line : '';
  const end = header.indexOf(';');
  const mediaType = (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
  const charset = end < 0 ? undefined : /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header.slice(end))?.[1];
  return { mediaType, charset };
}

const UTF_8 = /^utf-?8$/i;
const BOM = 0xef;

/** Text of an unknown charset is decoded as UTF-8: most charsets share ASCII with it. */
function decode(body: Buffer, charset: string | undefined, isCut: boolean): string {
  const isUtf8 = charset === undefined || UTF_8.test(charset);
  if (isUtf8 && !isCut && body[0] !== BOM) return body.toString('utf8');
  const known = isUtf8 || isCharset(charset) ? charset : undefined;
  // Streaming mode drops a character that was cut in two.
  return new TextDecoder(known).decode(body, { stream: isCut });
}

function isCharset(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/** Undefined if the bytes are not UTF-8 or contain NUL. */
function plainText(body: Buffer): string | undefined {
  if (body.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}
