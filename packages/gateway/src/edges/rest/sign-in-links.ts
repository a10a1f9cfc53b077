import * as z from 'zod';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import type { Mint } from '../../gateway/ports/gate.ts';
import { isLoopbackName } from '../../core/auth-settings.ts';
import { LINK_SCOPES } from '../../core/page-session.ts';
import { type Identity, LOCAL_OPERATOR } from '../../core/subject.ts';
import { createSignInLink } from '../../gateway/services/sign-in-links.ts';
import { type AdminDeps, findExecuteRefusal } from './admin-deps.ts';
import { toFieldError } from './failure.ts';
import { route, type Route } from './route.ts';

export interface SignInLinkDeps extends Pick<AdminDeps, 'store' | 'nowMs' | 'mayExecute'> {
  readonly mintSession: Mint;
  /** The URL of the admin pages, without their path, which are opened if needed. Undefined if no gateway is running. */
  readonly pagesUrl: () => Promise<Result<string | undefined, Refusal>>;
  /** Why no link may give the scope `execute` here, as a sentence. Undefined: the local operator may create one. */
  readonly executeLinkFault: string | undefined;
}

const INPUT = z
  .object({
    url: z.string().optional().meta({
      description:
        'Address at which the browser reaches Assay. Default: auth.publicUrl, then the own address.',
      example: 'https://assay.example.com',
    }),
    scopes: z.array(z.enum(LINK_SCOPES)).max(LINK_SCOPES.length).optional().meta({
      description:
        'Scopes of the session; `admin` is always one. `execute` only at the command line, for a gateway that listens on loopback and has no public URL; its session ends an hour after sign-in.',
    }),
  })
  .meta({ id: 'SignInLinkInput' });

const LINK = z
  .object({ url: z.string(), expiresAt: z.iso.datetime() })
  .meta({ id: 'SignInLink', description: 'A link that signs one browser in to the admin pages, once.' });

/** Route that creates links to the admin pages. */
export function signInLinkRoutes(deps: SignInLinkDeps): readonly Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/sign-in-links',
        id: 'createSignInLink',
        summary: 'Create a link that signs one browser in to the admin pages',
        about:
          'The link works once, within 10 minutes. Its session has the scope `admin` and outlives the token that created it, so the scope `execute` is needed too.',
        body: {
          schema: INPUT,
          examples: { own: {}, proxied: { url: 'https://assay.example.com' } },
        },
        answer: {
          status: 201,
          about: 'The link.',
          schema: LINK,
          example: {
            url: 'http://127.0.0.1:4444/admin/sign-in#…',
            expiresAt: '2026-11-22T09:40:00.000Z',
          },
        },
        refusals: ['EXECUTE_OFF'],
      },
      async (call) => {
        const refusal = findExecuteRefusal(deps, call);
        if (refusal !== undefined) return err(refusal);
        const scopes = LINK_SCOPES.filter(
          (scope) => scope === 'admin' || call.body.scopes?.includes(scope) === true,
        );
        const fault = scopes.includes('execute') ? findExecuteFault(call, deps) : undefined;
        if (fault !== undefined) return err(toFieldError(call.pointerTo('scopes'), fault));
        const pages = call.body.url === undefined ? await deps.pagesUrl() : ok(call.body.url);
        if (!pages.ok) return pages;
        const base = pages.value;
        if (base === undefined || !ORIGIN.test(base))
          return err(toFieldError(call.pointerTo('url'), base === undefined ? NO_GATEWAY : NO_ORIGIN));
        const { store, mintSession: mint, nowMs } = deps;
        const by = call.identity.subject;
        const link = await createSignInLink(base, { store, mint, nowMs: nowMs(), by, scopes });
        if (!link.ok) return link;
        const { url, expiresMs } = link.value;
        return ok({ kind: 'one', body: { url, expiresAt: new Date(expiresMs).toISOString() } });
      },
    ),
  ];
}

/** Whoever reads the home may run commands as its owner anyway; a token with `execute` must not outlive itself. */
function findExecuteFault(
  { identity, body }: { readonly identity: Identity; readonly body: { readonly url?: string | undefined } },
  { executeLinkFault }: Pick<SignInLinkDeps, 'executeLinkFault'>,
): string | undefined {
  if (identity !== LOCAL_OPERATOR)
    return 'a link with execute is created at the command line of this machine only: assay token link --scopes execute';
  if (body.url !== undefined && !isLoopbackName(URL.parse(body.url)?.hostname ?? ''))
    return 'a link with execute is for a browser on this machine: leave the URL out, or give one at 127.0.0.1';
  return executeLinkFault;
}

const ORIGIN = /^https?:\/\/[^/?#]+\/?$/;
const NO_GATEWAY =
  'no `assay serve` is running with this home; start one, or give the URL of another (--url)';
const NO_ORIGIN = 'it must be like https://assay.example.com or http://127.0.0.1:4444';
