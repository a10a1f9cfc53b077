import * as z from 'zod';
import { SESSION_MS } from '../../core/page-session.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { findCookieFault, setCookie, type CookieRequest } from '../../core/session-cookie.ts';
import type { Identity } from '../../core/subject.ts';
import type { PageSessions, SignInProof } from '../../gateway/ports/page-sessions.ts';
import type { SessionUser } from '../../api/session.ts';
import { toFieldError, type Failure } from './failure.ts';
import { readFields, toSentBody } from './read-fields.ts';
import { type JsonRequest, readJson } from './read-json.ts';

export interface SignInRequest extends JsonRequest {
  /** Address of the sender, for counting failures. */
  readonly address: string;
  readonly admitted: Result<Identity, Refusal>;
}

type Answered = Promise<Result<Response, Failure>>;

const LIMITS = { bytes: 16 * 1024, depth: 4 };
const PROOF = z.object({ code: z.string().max(200).optional(), token: z.string().max(8_192).optional() });
const SIGN_OUT = z.object({ everywhere: z.boolean().default(false) });

/** `POST /admin/sign-in`: with a code or a token, from Assay's own page only. Sets the session cookie. */
export async function signIn(visit: SignInRequest, sessions: PageSessions): Answered {
  const cookies = cookieRequestOf(visit.request);
  const fault = findCookieFault(cookies);
  if (fault !== undefined) return err(fault);
  const proof = await proofIn(visit);
  if (!proof.ok) return proof;
  const opened = await sessions.open(proof.value, visit.address);
  if (!opened.ok) return opened;
  const { text, identity } = opened.value;
  return ok(sessionResponse(identity, setCookie(text, cookies, SESSION_MS / 1_000)));
}

/** `POST /admin/sign-out`: ends this session, or all that were opened with the same token or with sign-in links. */
export async function signOut(visit: SignInRequest, sessions: PageSessions): Answered {
  const { admitted } = visit;
  const cookies = cookieRequestOf(visit.request);
  const fault = findCookieFault(cookies);
  if (fault !== undefined) return err(fault);
  const json = await readJson(visit, LIMITS);
  if (!json.ok) return json;
  const body = readFields(toSentBody(json.value), SIGN_OUT);
  if (!body.ok) return body;
  if (admitted.ok) {
    const ended = await sessions.end(admitted.value, body.value.value.everywhere ? 'all' : 'this');
    if (!ended.ok) return ended;
  }
  const headers = { 'set-cookie': setCookie(undefined, cookies, 0), 'cache-control': 'no-store' };
  return ok(new Response(null, { status: 204, headers }));
}

/** `GET /admin/session`: the signed-in user. */
export function getCurrentSession({ admitted }: SignInRequest): Result<Response, Failure> {
  return admitted.ok ? ok(sessionResponse(admitted.value)) : admitted;
}

async function proofIn(visit: JsonRequest): Promise<Result<SignInProof, Failure>> {
  const json = await readJson(visit, LIMITS);
  if (!json.ok) return json;
  const body = readFields(toSentBody(json.value), PROOF);
  if (!body.ok) return body;
  const { code, token } = body.value.value;
  if (code !== undefined && token === undefined) return ok({ code });
  if (token !== undefined && code === undefined) return ok({ token });
  return err(toFieldError('', 'give either "code" or "token"'));
}

function cookieRequestOf({ method, headers }: Request): CookieRequest {
  const header = (name: string): string | undefined => headers.get(name) ?? undefined;
  return {
    method,
    host: header('host'),
    origin: header('origin'),
    fetchSite: header('sec-fetch-site'),
  };
}

function sessionResponse({ subject, scopes }: Identity, cookie?: string): Response {
  const view: SessionUser = { subject, scopes };
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  if (cookie !== undefined) headers.set('set-cookie', cookie);
  return new Response(JSON.stringify(view), { headers });
}
