import type { AuditEvent } from '../../../core/audit-event.ts';
import { gatewayIdOf, type ServerWord } from '../../../core/hints/hint.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { idsOf } from '../../catalog/tool-claims.ts';
import type { WordChange } from '../../ports/words.ts';
import type { Lowering, Words } from '../../catalog/words.ts';

/** The word that says whether a server is trusted. */
export function trustWordOf(spec: ServerSpec): { readonly kind: 'server'; readonly id: string } {
  return { kind: 'server', id: idsOf(spec).serverId };
}

export interface TrustInput {
  /** Null: nobody says it; undefined: it stays. */
  readonly trust: boolean | null | undefined;
  readonly subject: string;
}

/** That a wish withdraws the trust in a server as it runs now; undefined where it does not. */
export function distrusting(
  options: Parameters<typeof trusting>[0],
  spec: ServerSpec | undefined,
  wish: TrustInput,
): Lowering | undefined {
  const [wanted] = spec === undefined ? [] : trusting(options, spec, wish);
  if (spec === undefined || wanted === undefined) return undefined;
  const { kind, id } = wanted.word;
  const before = options.words.find(kind, id)?.body as ServerWord | undefined; // written here alone
  const isWithdrawn = wish.trust === false || before?.trust === true;
  return isWithdrawn ? { word: wanted.word, kind: 'gateway', name: spec.name } : undefined;
}

/** What is to be written so that a server is trusted as wished; nothing where it is already. */
export function trusting(
  { words, nowMs }: { readonly words: Words; readonly nowMs: () => number },
  spec: ServerSpec,
  { trust, subject }: TrustInput,
): readonly WordChange[] {
  const { kind, id } = trustWordOf(spec);
  const former = words.find(kind, id);
  const before = (former?.body as ServerWord | undefined)?.trust; // written here alone
  if (trust === undefined || (before ?? null) === trust) return [];
  const { identity } = idsOf(spec);
  const body: ServerWord | undefined = trust === null ? undefined : { server: spec.name, identity, trust };
  const deed: AuditEvent = {
    atMs: nowMs(),
    subject,
    action: 'gateway.trust',
    target: { kind: 'gateway', id: gatewayIdOf(spec.name), name: spec.name },
    before: { trust: before ?? null },
    after: { trust },
  };
  return [{ word: { kind, id, body }, former: former?.revision, deed }];
}
