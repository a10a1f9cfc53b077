import { exactJson, isMembers } from '../../../core/canonical-json.ts';
import { HTTP_FACTS } from '../../../core/sources/http-facts.ts';
import type { MadeResult } from '../made-tool.ts';
import { refused, said } from '../text-result.ts';
import { readBody, type AnswerBody } from './answer-body.ts';
import type { HttpAnswer } from './http-call.ts';
import { filterFailure } from './filter-failure.ts';
import type { FilterRunner } from './filter-processes.ts';
import { MOST_LEVELS, nestsTooDeeply } from './nesting.ts';
import { quotedAnswer } from './quoted-answer.ts';
import { redirectTarget } from './redirects.ts';
import { shownAddress } from './shown-address.ts';

export interface AnswerFilter {
  readonly expression: string;
  readonly runner: FilterRunner;
}

export interface AnswerOptions {
  readonly filter?: AnswerFilter | undefined;
  readonly signal: AbortSignal;
  readonly hasOutputSchema: boolean;
  /** `GET https://host/path`, for sentences: without a query, or what may be a key. */
  readonly request: string;
  /** Where the request went. */
  readonly url: URL;
}

/** What a model gets of an answer. Whether it fits an output schema is not looked at. */
export async function answerResult(answer: HttpAnswer, options: AnswerOptions): Promise<MadeResult> {
  const { status } = answer;
  const body = readBody(answer);
  const result = status < 300 ? await successOf(answer, body, options) : failureOf(answer, body, options);
  return { ...result, _meta: { [HTTP_FACTS]: { status } } };
}

async function successOf(answer: HttpAnswer, body: AnswerBody, options: AnswerOptions): Promise<MadeResult> {
  const { status } = answer;
  switch (body.kind) {
    case 'empty':
      return said(`Done: the server answered ${status} and no content.${headerLines(answer)}`);
    case 'text':
      return textResult(answer, body.text, options);
    case 'image':
    case 'audio':
    case 'bytes':
      return bytesResult(answer, body, options);
  }
}

/** Headers that are an answer where there is no body. */
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

async function textResult(answer: HttpAnswer, text: string, options: AnswerOptions): Promise<MadeResult> {
  const { filter, hasOutputSchema, request } = options;
  const readsText = filter === undefined && !hasOutputSchema;
  if (answer.isCut) {
    const notice = cutNotice(answer);
    if (readsText) return said(`${text}\n\n[${notice}, and set a "filter" where less of it is wanted.]`);
    const reader = filter === undefined ? 'output schema' : 'filter';
    return refused(`The ${reader} needs the whole answer to ${request}, which was ${notice}.`);
  }
  if (readsText) return said(text);
  if (filter !== undefined) return filteredResult(text, filter, options);
  if (nestsTooDeeply(text))
    return refused(
      `The request ${request} was carried out, but its answer nests deeper than ${MOST_LEVELS} levels, which is not read.`,
    );
  const value = exactJson(text)?.value;
  return isMembers(value) ? { ...said(text), structuredContent: value } : said(text);
}

async function filteredResult(
  text: string,
  { expression, runner }: AnswerFilter,
  { hasOutputSchema, request, signal }: AnswerOptions,
): Promise<MadeResult> {
  // A filter selects: a result that is larger than its answer is hardly what it was written for.
  const mostCharacters = Math.max(text.length, LEAST_RESULT);
  const filtered = await runner.run({ expression, text, mostCharacters }, signal);
  if (!filtered.ok) return refused(filterFailure(filtered.error, { expression, request, text }));
  const value = hasOutputSchema ? exactJson(filtered.value)?.value : undefined;
  return isMembers(value) ? { ...said(filtered.value), structuredContent: value } : said(filtered.value);
}

const LEAST_RESULT = 1024 * 1024;

function bytesResult(
  answer: HttpAnswer,
  { kind, mediaType }: Extract<AnswerBody, { readonly mediaType: string }>,
  { filter, request }: AnswerOptions,
): MadeResult {
  const what = `${answer.body.length} bytes of ${mediaType}`;
  if (filter !== undefined)
    return refused(`The filter works on JSON, and the answer to ${request} is ${what}.`);
  if (answer.isCut)
    return refused(
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

function failureOf(answer: HttpAnswer, body: AnswerBody, { request, url }: AnswerOptions): MadeResult {
  const { status } = answer;
  const target = status < 400 ? redirectTarget(url, answer) : undefined;
  if (target !== undefined)
    return refused(
      `${request}: the server answered ${status} and points to ${shownAddress(target.origin, target.pathname)}. ` +
        'What may have an effect is not sent a second time, so nothing was sent there.',
    );
  const { 'retry-after': wait } = answer.headers;
  const later = typeof wait === 'string' && wait.length < 50 ? ` It can be asked again after: ${wait}.` : '';
  return refused(`${request}: the server answered ${status}.${later} ${shownBody(answer, body)}`.trimEnd());
}

function shownBody({ body: bytes }: HttpAnswer, body: AnswerBody): string {
  if (body.kind === 'empty') return '';
  return body.kind === 'text'
    ? quotedAnswer(body.text)
    : `With it came ${bytes.length} bytes of ${body.mediaType}.`;
}

function addressIn(request: string): string {
  return request.slice(request.indexOf(' ') + 1);
}
