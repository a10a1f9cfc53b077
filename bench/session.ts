// Single requests without load: opening a legacy session, trying a call, listing tools.
import { request } from 'undici';
import {
  type Ask,
  callTemplate,
  type Era,
  flawOf,
  firstId,
  initialize,
  messageOf,
  type Outgoing,
  outgoing,
  textMember,
} from './messages.ts';

const TIMEOUT_MS = 10_000;

/** The session id assigned by a server, or `undefined` if it has no sessions. */
export async function openSession(endpoint: string): Promise<string | undefined> {
  const opened = await post(endpoint, initialize());
  if (opened.status !== 200) throw new Error(`initialize got status ${String(opened.status)}`);
  const session = opened.session;
  const method = 'notifications/initialized';
  await post(endpoint, outgoing({ era: 'legacy', method, params: {}, session }));
  return session;
}

/** Calls the tool once; returns why that failed, or `undefined` if the echo was right. */
export async function flawOfOneCall(endpoint: string, era: Era, tool: string): Promise<string | undefined> {
  try {
    const text = 'Is anybody there?';
    const session = era === 'legacy' ? await openSession(endpoint) : undefined;
    const template = callTemplate({ era, tool, text, session });
    const { headers, body } = template;
    const answer = await post(endpoint, { headers, body: body.toString() });
    const expected = { id: firstId(), textMember: textMember(text) };
    return flawOf(answer.status, answer.body, expected);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export interface Page {
  readonly bytes: Buffer;
  readonly names: readonly string[];
  readonly nextCursor: string | undefined;
}

/** One page of `tools/list`, with its bytes as received. */
export async function listPage(endpoint: string, cursor: string | undefined): Promise<Page> {
  const { status, body } = await post(endpoint, outgoing(askForPage(cursor)));
  const said = messageOf(body.toString()) as {
    result?: { tools?: readonly { name: string }[]; nextCursor?: string };
  };
  if (status !== 200 || said.result?.tools === undefined) {
    throw new Error(`tools/list got status ${String(status)}: ${body.toString('utf8', 0, 200)}`);
  }
  const names = said.result.tools.map(({ name }) => name);
  return { bytes: body, names, nextCursor: said.result.nextCursor };
}

export function askForPage(cursor: string | undefined): Ask {
  const params = cursor === undefined ? {} : { cursor };
  return { era: 'modern', method: 'tools/list', params, id: 1 };
}

async function post(
  endpoint: string,
  message: Outgoing,
): Promise<{ status: number; body: Buffer; session: string | undefined }> {
  const response = await request(endpoint, {
    method: 'POST',
    headers: message.headers,
    body: message.body,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const body = Buffer.from(await response.body.arrayBuffer());
  const session = response.headers['mcp-session-id'];
  return {
    status: response.statusCode,
    body,
    session: typeof session === 'string' ? session : undefined,
  };
}
