// The answers of a lean MCP server with one real tool, in both eras and over any transport.
import { catalogPages, pageOfCursor } from './catalog.ts';

const MODERN = '2026-07-28';
const ENVELOPE_VERSION = 'io.modelcontextprotocol/protocolVersion';
const MESSAGE_MEMBER = Buffer.from('"message":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SERVER_INFO = '{"name":"echo","version":"1.0.0"}';
const CAPABILITIES = '{"tools":{}}';

export interface Answer {
  readonly bytes: Buffer;
  readonly opensSession: boolean;
  readonly isUnknownMethod: boolean;
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly cursor?: unknown;
    readonly protocolVersion?: unknown;
    readonly arguments?: { readonly message?: unknown };
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/** Answers one JSON-RPC message as bytes; `undefined` for a notification or a response. */
export function echoServer(toolCount: number): (body: Buffer) => Answer | undefined {
  const pages = catalogPages(toolCount);
  return (body) => {
    const { message, text } = takeMessageOut(body);
    if (message.id === undefined || message.method === undefined) return undefined;
    const isModern = message.params?._meta?.[ENVELOPE_VERSION] !== undefined;
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},`;
    if (message.method === 'tools/call') {
      const resultType = isModern ? ',"resultType":"complete"' : '';
      const start = `${head}"result":{"content":[{"type":"text","text":"`;
      return plain(join(start, text, `"}]${resultType}}}`));
    }
    const result = resultOf(message, pages, isModern);
    if (result === undefined) {
      const error = '"error":{"code":-32601,"message":"Method not found"}}';
      return { bytes: Buffer.from(head + error), opensSession: false, isUnknownMethod: true };
    }
    const bytes = Buffer.from(`${head}"result":${result}}`);
    return { bytes, opensSession: message.method === 'initialize', isUnknownMethod: false };
  };
}

function resultOf(message: Message, pages: readonly string[], isModern: boolean): string | undefined {
  const cached = isModern ? ',"resultType":"complete","ttlMs":3600000,"cacheScope":"private"' : '';
  switch (message.method) {
    case 'initialize': {
      const version = JSON.stringify(message.params?.protocolVersion ?? '2025-11-25');
      return `{"protocolVersion":${version},"capabilities":${CAPABILITIES},"serverInfo":${SERVER_INFO}}`;
    }
    case 'server/discover': {
      const meta = `"_meta":{"io.modelcontextprotocol/serverInfo":${SERVER_INFO}}`;
      return `{"supportedVersions":["${MODERN}"],"capabilities":${CAPABILITIES},${meta}${cached}}`;
    }
    case 'tools/list': {
      const page = pages[pageOfCursor(message.params?.cursor)];
      return page === undefined ? undefined : `{${page}${cached}}`;
    }
    case 'ping':
      return '{}';
    default:
      return undefined;
  }
}

// Parsing 100 kB would cost more than everything a proxy does and hide what is measured, so the text is cut out as
// bytes and only the rest is parsed.
function takeMessageOut(body: Buffer): { message: Message; text: Buffer } {
  const at = body.indexOf(MESSAGE_MEMBER);
  if (at < 0) return { message: parse(body), text: Buffer.alloc(0) };
  const from = at + MESSAGE_MEMBER.length;
  const to = endOfString(body, from);
  const rest = Buffer.concat([body.subarray(0, from), body.subarray(to)]);
  return { message: parse(rest), text: body.subarray(from, to) };
}

function endOfString(body: Buffer, from: number): number {
  let quote = body.indexOf(QUOTE, from);
  while (quote > 0 && isEscaped(body, quote)) quote = body.indexOf(QUOTE, quote + 1);
  return quote < 0 ? body.length : quote;
}

function isEscaped(body: Buffer, at: number): boolean {
  let backslashes = 0;
  while (body[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function parse(bytes: Buffer): Message {
  return JSON.parse(bytes.toString('utf8')) as Message;
}

function join(start: string, text: Buffer, end: string): Buffer {
  const bytes = Buffer.allocUnsafe(start.length + text.length + end.length);
  bytes.write(start, 0, 'latin1');
  text.copy(bytes, start.length);
  bytes.write(end, start.length + text.length, 'latin1');
  return bytes;
}

function plain(bytes: Buffer): Answer {
  return { bytes, opensSession: false, isUnknownMethod: false };
}
