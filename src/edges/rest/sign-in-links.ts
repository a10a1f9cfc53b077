import * as z from 'zod';
import { err, ok } from '../../core/result.ts';
import type { Mint } from '../../gateway/ports/gate.ts';
import { createSignInLink } from '../../gateway/services/sign-in-links.ts';
import { type AdminDeps, findExecuteRefusal } from './admin-deps.ts';
import { toFieldError } from './failure.ts';
import { route, type Route } from './route.ts';

export interface SignInLinkDeps extends Pick<AdminDeps, 'store' | 'nowMs' | 'mayExecute'> {
  readonly mintSession: Mint;
  /** The URL of the admin pages, without their path. Undefined if no gateway is running. */
  readonly pagesUrl: () => string | undefined;
}

const INPUT = z
  .object({
    url: z.string().optional().meta({
      description:
        'Address at which the browser reaches Assay. Default: auth.publicUrl, then the own address.',
      example: 'https://assay.example.com',
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
        const base = call.body.url ?? deps.pagesUrl();
        if (base === undefined || !ORIGIN.test(base))
          return err(toFieldError(call.pointerTo('url'), base === undefined ? NO_GATEWAY : NO_ORIGIN));
        const { store, mintSession: mint, nowMs } = deps;
        const link = await createSignInLink(base, { store, mint, nowMs: nowMs(), by: call.identity.subject });
        if (!link.ok) return link;
        const { url, expiresMs } = link.value;
        return ok({ kind: 'one', body: { url, expiresAt: new Date(expiresMs).toISOString() } });
      },
    ),
  ];
}

const ORIGIN = /^https?:\/\/[^/?#]+\/?$/;
const NO_GATEWAY =
  'no `assay serve` is running with this home; start one, or give the URL of another (--url)';
const NO_ORIGIN = 'it must be like https://assay.example.com or http://127.0.0.1:4444';
