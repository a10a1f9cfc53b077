// The messages that the bench sends, and the check for a correct answer to a call.
import { Buffer } from 'node:buffer';

export type Era = 'legacy' | 'modern';

const VERSION: Readonly<Record<Era, string>> = { legacy: '2025-11-25', modern: '2026-07-28' };
const CLIENT_INFO = { name: 'assay-bench', version: '1.0.0' };
const ID_DIGITS = 10;
const TEXT_MEMBER = Buffer.from('"text":"');
const ID_MEMBER = '"id":';

export interface Outgoing {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Ask {
  readonly era: Era;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly id?: number;
  readonly session?: string | undefined;
  readonly token?: string | undefined;
}

/** One request of either era, or a notification if there is no id. */
export function outgoing(ask: Ask): Outgoing {
  const { era, method, id } = ask;
  const more = ask.params['_meta'] as object | undefined;
  const params = era === 'modern' ? { ...ask.params, _meta: { ...envelope(), ...more } } : ask.params;
  const name = ask.params['name'] ?? ask.params['uri'];
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(method === 'initialize' ? {} : { 'mcp-protocol-version': VERSION[era] }),
      ...(era === 'modern' ? { 'mcp-method': method } : {}),
      ...(era === 'modern' && typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...(ask.session === undefined ? {} : { 'mcp-session-id': ask.session }),
      ...(ask.token === undefined ? {} : { authorization: `Bearer ${ask.token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params }),
  };
}

export const INITIALIZE_PARAMS: Readonly<Record<string, unknown>> = {
  protocolVersion: VERSION.legacy,
  capabilities: {},
  clientInfo: CLIENT_INFO,
};

export function initialize(): Outgoing {
  return outgoing({ era: 'legacy', method: 'initialize', params: INITIALIZE_PARAMS, id: 1 });
}

/** A call whose id is rewritten in place: ids have ten digits, at `idAt` in `body`. */
export interface CallTemplate {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly idAt: number;
}

export function callTemplate(ask: {
  readonly era: Era;
  readonly tool: string;
  readonly text: string;
  readonly session: string | undefined;
  readonly token?: string | undefined;
}): CallTemplate {
  const params = { name: ask.tool, arguments: { message: ask.text } };
  const { era, session, token } = ask;
  const { headers, body } = outgoing({ era, method: 'tools/call', params, id: firstId(), session, token });
  return { headers, body: Buffer.from(body), idAt: body.indexOf(ID_MEMBER) + ID_MEMBER.length };
}

export function firstId(): number {
  return 10 ** (ID_DIGITS - 1);
}

/** Text of exactly this many bytes, with line ends and quotes like real text. */
export function textOf(byteCount: number): string {
  const line = 'The order of "March 3rd" was shipped, and the customer was told so by mail.\n';
  return line.repeat(Math.ceil(byteCount / line.length)).slice(0, byteCount);
}

/** Why these bytes do not answer the call, or `undefined` if they do. Works on JSON and SSE alike. */
export function flawOf(
  status: number,
  body: Buffer,
  call: { readonly id: number; readonly textMember: Buffer },
): string | undefined {
  if (status !== 200) return `status ${String(status)}: ${excerpt(body)}`;
  const id = `${ID_MEMBER}${String(call.id)}`;
  const idAt = body.lastIndexOf(id);
  if (idAt < 0 || isDigit(body[idAt + id.length])) {
    return `no id ${String(call.id)} in: ${excerpt(body)}`;
  }
  const textAt = body.indexOf(TEXT_MEMBER);
  const textEnd = textAt + call.textMember.length;
  if (textAt < 0 || call.textMember.compare(body, textAt, textEnd) !== 0) {
    return `another text than sent in: ${excerpt(body)}`;
  }
  return undefined;
}

/** The text as it appears in a correct answer: the whole member with its quoted value. */
export function textMember(text: string): Buffer {
  return Buffer.from(`"text":${JSON.stringify(text)}`);
}

/** The JSON messages of an answer that may be plain JSON or an SSE stream. */
export function messagesOf(body: string): readonly unknown[] {
  if (body.startsWith('{')) return [JSON.parse(body)];
  return body
    .split('\n')
    .filter((line) => line.startsWith('data:') && line.includes('{'))
    .map((line) => JSON.parse(line.slice('data:'.length)) as unknown);
}

/** The last message, which is the response. */
export function messageOf(body: string): unknown {
  return messagesOf(body).at(-1);
}

function envelope(): object {
  return {
    'io.modelcontextprotocol/protocolVersion': VERSION.modern,
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
}

function excerpt(body: Buffer): string {
  return JSON.stringify(body.toString('utf8', 0, 200));
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
