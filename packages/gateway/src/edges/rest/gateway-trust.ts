import { GATEWAY_TRUST, GATEWAY_TRUST_CHANGE } from '../../api/server.ts';
import { ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

type TrustDeps = Pick<AdminDeps, 'servers'>;

/** Trust in the hints of a gateway, with what it changes. */
export function gatewayTrustRoutes(deps: TrustDeps): readonly Route[] {
  return [readRoute(deps), changeRoute(deps)];
}

function readRoute({ servers }: TrustDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways/{id}/trust',
      id: 'readGatewayTrust',
      summary: 'Get what trust in the hints of a gateway changes',
      about:
        'Whether or not it is trusted now: the tools that need no approval if it is, and the command or origin that trust holds for.',
      answer: { about: 'The trust and its effects.', schema: GATEWAY_TRUST },
      refusals: ['SERVER_UNKNOWN'],
    },
    async ({ param }) => {
      const trust = await servers.readTrust(param('id'));
      return trust.ok ? ok({ kind: 'one', body: trust.value }) : trust;
    },
  );
}

function changeRoute({ servers }: TrustDeps): Route {
  return route(
    {
      method: 'put',
      path: '/gateways/{id}/trust',
      id: 'changeGatewayTrust',
      summary: 'Trust the hints of a gateway, or withdraw the trust',
      about:
        'With the `identity` that you have seen, so that you never trust a command or origin that replaced it meanwhile.',
      body: {
        schema: GATEWAY_TRUST_CHANGE,
        examples: { trust: { trust: true, identity: '7c3f0b5e1d9a2468' } },
      },
      answer: { about: 'The trust and its effects.', schema: GATEWAY_TRUST },
      refusals: ['SERVER_UNKNOWN', 'SERVER_CHANGED', 'GATEWAY_READ_ONLY', 'REVOCATION_UNSAVED'],
    },
    async ({ param, body, identity }) => {
      const changed = await servers.changeTrust(param('id'), body, identity);
      return changed.ok ? ok({ kind: 'one', body: changed.value }) : changed;
    },
  );
}
