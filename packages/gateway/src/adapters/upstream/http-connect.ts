import { getRecovery, type Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Transport } from '../../core/server-spec.ts';
import type { UpstreamRequest, Link, Reply } from '../../gateway/ports/link.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import { openHttpReach } from './http-reach.ts';
import { Attempt, type LinkAttempt } from './opening.ts';
import { toHandshakeCause, discover, initialize, type Facts } from './handshake.ts';
import { getAuthorizer } from './http-posts.ts';
import { HttpLink } from './http-link.ts';
import { openSse } from './sse-link.ts';

type HttpTransport = Extract<Transport, { kind: 'http' }>;

/** Opens a link over the configured transport, or else over the one that the server speaks. */
export function connectHttp(opening: LinkAttempt, transport: HttpTransport): Promise<Result<Link, Cause>> {
  return transport.flavour === 'sse' ? openSse(opening, transport) : openHttp(opening, transport);
}

/**
 * Streamable HTTP in the era the server speaks, else the older transport, in the order given by
 * 2026-07-28, basic/transports/streamable-http#backward-compatibility.
 */
async function openHttp(opening: LinkAttempt, transport: HttpTransport): Promise<Result<Link, Cause>> {
  const { spec, deps, events, signal } = opening;
  const attempt = new Attempt(events, deps.gapClock);
  const reach = await openHttpReach(opening, transport);
  if (!reach.ok) return reach;
  const link = new HttpLink({
    server: spec.name,
    url: transport.url,
    reach: reach.value,
    headers: transport.headers,
    events: attempt,
    log: deps.log,
    ownInfo: deps.ownInfo,
    authorizer: await getAuthorizer(opening),
    minSilenceMs: deps.minSilenceMs,
  });
  const facts = await shakeHands(link, opening);
  if (facts.ok) {
    attempt.succeeded();
    link.begin(facts.value);
    return ok(link);
  }
  await link.close({ code: 'LINK_CLOSED' });
  if (transport.flavour === 'auto' && facts.error.mayBeOlder && !signal.aborted) {
    const older = await openSse(opening, transport);
    if (older.ok) return older;
  }
  return err(facts.error.cause);
}

interface Failure {
  readonly cause: Cause;
  /** The answer is one that a server of the older transport would give. */
  readonly mayBeOlder: boolean;
}

async function shakeHands(link: HttpLink, opening: LinkAttempt): Promise<Result<Facts, Failure>> {
  const { spec, deps, signal, client: profile } = opening;
  const identity = { ownInfo: deps.ownInfo, profile };
  const probe = (request: UpstreamRequest, to: Era): Promise<Result<Reply, Refusal>> =>
    link.send(request, to);
  const recalled = deps.recallEra(spec);
  if (recalled === 'legacy') {
    const facts = await initialize(probe, identity, signal);
    if (facts.ok) return facts;
    const { cause } = facts.error;
    if (getRecovery(cause) === 'sign_in') return err({ cause, mayBeOlder: false });
  }
  const discovery = await discover(probe, signal);
  if (discovery.kind === 'modern') return ok(discovery.facts);
  if (discovery.kind === 'failed' && !isEraEvidence(discovery.refusal))
    return err({ cause: toHandshakeCause(discovery.refusal), mayBeOlder: false });
  const facts = await initialize(probe, identity, signal);
  if (facts.ok) return facts;
  const { httpStatus, cause } = facts.error;
  return err({ cause, mayBeOlder: httpStatus !== undefined && OLDER_ANSWERS.has(httpStatus) });
}

/** Statuses with which a 2024-11-05 server answers an unexpected POST. */
const OLDER_ANSWERS: ReadonlySet<number> = new Set([400, 404, 405]);

/** Connection failures, refused credentials and server errors are not evidence of an era. */
function isEraEvidence(refusal: Refusal): boolean {
  if (refusal.code === 'SERVER_ENDED') return true;
  if (refusal.code !== 'SERVER_UNAVAILABLE' || refusal.httpStatus === undefined) return false;
  const { httpStatus } = refusal;
  return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 401 && httpStatus !== 403;
}
