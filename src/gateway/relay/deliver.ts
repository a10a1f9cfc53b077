import { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '../../core/result.ts';
import { buildOwnRequest } from '../../protocol/message.ts';
import type { LinkChoice } from '../catalog/link-choice.ts';
import type { Server } from '../catalog/server.ts';
import type { TwinCall } from '../catalog/twin-denials.ts';
import { refuseServerRequest } from '../catalog/server-request-router.ts';
import { buildOwnUpstreamRequest, type Link, type Reply } from '../ports/link.ts';
import type { Call } from './call.ts';
import { findTokenRefusal } from './caller-token.ts';
import { checkDenial } from './denied.ts';
import { changeWhileWaiting, sendAgain } from './send-again.ts';

/** The server of a call, its shared link, and which link the call uses. */
export interface Route {
  readonly server: Server;
  readonly link: Link;
  readonly choice: LinkChoice;
}

/** Sends a call on its link, and again after a failure if it cannot take effect twice. */
export async function deliver(call: Call, route: Route): Promise<Result<Reply, Refusal>> {
  const { server, link, choice } = route;
  const sentMs = performance.now();
  const reply = await sendOnce(call, route);
  if (reply.ok) return reply;
  // The ping tells the shared link whether it needs authorization too.
  if (choice.kind !== 'shared' && reply.error.code === 'AUTHORIZATION_NEEDED') void answersPing(link, call);
  const resendNow = (isUnsent: boolean): Promise<Result<Reply, Refusal>> => resend(call, route, isUnsent);
  return sendAgain({ call, server, refusal: reply.error, sentMs, resend: resendNow });
}

async function sendOnce(call: Call, { server, link, choice }: Route): Promise<Result<Reply, Refusal>> {
  if (choice.kind !== 'shared') return sendPrivately(call, { server, link, choice });
  if (call.logLevel !== undefined) await server.requestLogLevel(call.logLevel);
  const refusal = findTokenRefusal(call);
  if (refusal !== undefined) return err(refusal);
  const { sole } = server;
  // Any call of the only client may carry server requests.
  const begun = call.onServerRequest && sole?.add(call.onServerRequest);
  try {
    return await link.send(call);
  } finally {
    if (begun !== undefined) sole?.delete(begun);
  }
}

async function resend(call: Call, route: Route, isUnsent: boolean): Promise<Result<Reply, Refusal>> {
  const { server, link, choice } = route;
  // A server that lost one client's session may still be up; ping it on the shared link.
  const isUp = choice.kind !== 'shared' && (!isUnsent || (await answersPing(link, call)));
  if (isUp) return sendOnce(call, route);
  const next = await linkOf(call, server, isUnsent ? link : undefined);
  return next.ok ? sendOnce(call, { ...route, link: next.value }) : next;
}

/** The link of a server that may have to restart first, within the time limit of the call. Fails if the tool changed. */
async function linkOf(call: Call, server: Server, butNot: Link | undefined): Promise<Result<Link, Refusal>> {
  const limited = new Cancellation();
  const timer = setTimeout(() => limited.cancel(), call.timeoutMs);
  const ready = server.waitUntilReady(limited, butNot);
  const link = await call.cancellation.during(() => limited.cancel(), ready);
  clearTimeout(timer);
  if (call.cancellation.isCancelled) return err({ code: 'CANCELLED' });
  const change = link.ok ? changeWhileWaiting(call, server, link.value) : undefined;
  return change === undefined ? link : err(change);
}

interface PrivateRoute extends Route {
  readonly choice: Exclude<LinkChoice, { kind: 'shared' }>;
}

async function sendPrivately(call: Call, { server, choice }: PrivateRoute): Promise<Result<Reply, Refusal>> {
  // If the client has left, nothing would ever close a link opened now.
  if (call.cancellation.isCancelled) return err({ code: 'CANCELLED' });
  const { spec, claims, inventory } = server;
  if (choice.rights !== undefined && claims.unsharedStateOf(spec, inventory.tools).length > 0)
    return err({ code: 'SANDBOX_UNAVAILABLE', server: spec.name, gap: 'state' });
  const session = choice.isForAll === true ? undefined : call.session;
  const taken = await server.privateLinks.take({ choice, session }, call);
  if (!taken.ok) return taken;
  const own = taken.value;
  if (call.logLevel !== undefined) await own.requestLogLevel(call.logLevel);
  const refusal = findTokenRefusal(call);
  if (refusal !== undefined) {
    own.release();
    return err(refusal);
  }
  const begun = own.begin(call.onServerRequest ?? refuseServerRequest);
  const twinCall = twinCallOf(call, server, choice);
  const sentMs = Date.now();
  try {
    const reply = await own.send(call);
    if (twinCall === undefined) return reply;
    own.lastCall = twinCall;
    const refused = own.link?.refused?.().findLast(({ atMs }) => atMs >= sentMs);
    return await checkDenial(twinCall, reply, { denials: server.privateLinks.denials, refused });
  } finally {
    own.over(begun);
    own.release();
  }
}

/** The details of a call to a twin that are kept to explain denials. */
function twinCallOf(
  { entry, message, era, name, clientInfo, parameters }: Call,
  { spec }: Server,
  { rights }: LinkChoice & { readonly kind: 'own' | 'once' },
): TwinCall | undefined {
  if (rights === undefined || entry === undefined) return undefined;
  return {
    spec,
    definition: entry.definition,
    rights,
    request: { message, era, name, clientInfo, parameters },
  };
}

async function answersPing(link: Link, { timeoutMs, cancellation }: Call): Promise<boolean> {
  const pong = await link.send(buildOwnUpstreamRequest(buildOwnRequest('ping'), timeoutMs, cancellation));
  return pong.ok && !cancellation.isCancelled;
}
