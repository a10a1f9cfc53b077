import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '../../core/result.ts';
import { ownRequest } from '../../protocol/message.ts';
import type { LinkChoice } from '../catalog/link-choice.ts';
import type { Server } from '../catalog/server.ts';
import { refuseServerRequest, type ServerRequestRouter } from '../catalog/server-request-router.ts';
import { ownUpstreamRequest, type Link, type Reply } from '../ports/link.ts';
import type { Call } from './call.ts';

/** The server of a call, its shared link, and which link the call uses. */
export interface Route {
  readonly server: Server;
  readonly link: Link;
  readonly choice: LinkChoice;
}

/**
 * Sends a call on its link. A call that did not reach its server had no effect, so it is retried once when the server
 * is back.
 */
export function deliver(call: Call, route: Route): Promise<Result<Reply, Refusal>> {
  return route.choice.kind === 'shared'
    ? deliverShared(call, route)
    : deliverPrivately(call, { ...route, choice: route.choice });
}

function deliverShared(call: Call, { server, link }: Route): Promise<Result<Reply, Refusal>> {
  const heard = call.logLevel === undefined ? undefined : server.requestLogLevel(call.logLevel);
  const first =
    heard === undefined ? sendShared(call, server, link) : heard.then(() => sendShared(call, server, link));
  return first.then((reply) =>
    reply.ok || reply.error.code !== 'SERVER_UNREACHED' ? reply : again(call, server, link),
  );
}

async function again(call: Call, server: Server, link: Link): Promise<Result<Reply, Refusal>> {
  const next = await server.waitUntilReady(call.cancellation, link);
  return next.ok ? sendShared(call, server, next.value) : next;
}

function sendShared(call: Call, { sole }: Server, link: Link): Promise<Result<Reply, Refusal>> {
  return sole === undefined || call.onServerRequest === undefined
    ? link.send(call)
    : sendAskable(call, sole, link);
}

/** Any call of the only client may carry server requests. */
async function sendAskable(
  call: Call,
  sole: ServerRequestRouter,
  link: Link,
): Promise<Result<Reply, Refusal>> {
  const begun = sole.add(call.onServerRequest ?? refuseServerRequest);
  try {
    return await link.send(call);
  } finally {
    sole.delete(begun);
  }
}

interface PrivateRoute extends Route {
  readonly choice: Exclude<LinkChoice, { kind: 'shared' }>;
}

async function deliverPrivately(call: Call, route: PrivateRoute): Promise<Result<Reply, Refusal>> {
  const { server, link } = route;
  const reply = await sendPrivately(call, route);
  // The ping tells the shared link whether it needs authorization too.
  if (!reply.ok && reply.error.code === 'AUTHORIZATION_NEEDED') void answersPing(link, call);
  if (reply.ok || reply.error.code !== 'SERVER_UNREACHED') return reply;
  // A server that lost one client's session may still be up; ping it on the shared link.
  if (await answersPing(link, call)) return sendPrivately(call, route);
  const next = await server.waitUntilReady(call.cancellation, link);
  return next.ok ? sendPrivately(call, route) : next;
}

async function sendPrivately(call: Call, { server, choice }: PrivateRoute): Promise<Result<Reply, Refusal>> {
  // If the client has left, nothing would ever close a link opened now.
  if (call.cancellation.isCancelled) return err({ code: 'CANCELLED' });
  const taken = await server.privateLinks.take({ choice, session: call.session }, call);
  if (!taken.ok) return taken;
  const own = taken.value;
  if (call.logLevel !== undefined) await own.requestLogLevel(call.logLevel);
  const begun = own.begin(call.onServerRequest ?? refuseServerRequest);
  try {
    return await own.send(call);
  } finally {
    own.over(begun);
    own.release();
  }
}

async function answersPing(link: Link, { timeoutMs, cancellation }: Call): Promise<boolean> {
  const pong = await link.send(ownUpstreamRequest(ownRequest('ping'), timeoutMs, cancellation));
  return pong.ok && !cancellation.isCancelled;
}
