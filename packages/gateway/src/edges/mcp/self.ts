import { OWN_INFO } from '@assay-mcp/kit/version';
import { computeTaskCapabilities, type ClientForm, type TaskOffer } from '../../gateway/relay/task-relay.ts';
import type { View } from '../../gateway/catalog/view.ts';
import { MODERN_VERSIONS } from '@assay-mcp/protocol/eras';
import type { JsonObject } from '@assay-mcp/kit/json-object';

interface Offer extends TaskOffer {
  readonly view: View;
}

/** The result of `server/discover` (2026-07-28, server/discover). */
export function buildDiscoverResult(offer: Offer): JsonObject {
  return {
    supportedVersions: MODERN_VERSIONS,
    capabilities: capabilitiesOf(offer, { era: 'modern' }),
    serverInfo: OWN_INFO,
    ...instructionsOf(offer),
    _meta: { 'io.modelcontextprotocol/serverInfo': OWN_INFO },
  };
}

/** The result of `initialize` (2025-11-25, basic/lifecycle#initialization). */
export function buildInitializeResult(offer: Offer, version: string): JsonObject {
  return {
    protocolVersion: version,
    capabilities: capabilitiesOf(offer, { era: 'legacy', version }),
    serverInfo: OWN_INFO,
    ...instructionsOf(offer),
  };
}

function instructionsOf({ view }: Offer): JsonObject {
  const instructions = view.instructions();
  return instructions === undefined ? {} : { instructions };
}

/** The capabilities that servers have and Assay relays. A server that has not started yet may have any. */
function capabilitiesOf(offer: Offer, client: ClientForm): JsonObject {
  const { view } = offer;
  const lists = ['tools', 'prompts', 'resources'].filter((name) => view.has(name));
  const plain = (client.era === 'legacy' ? ['completions', 'logging'] : ['completions']).filter((name) =>
    view.has(name),
  );
  const subscribe = view.has('resources', 'subscribe') ? { subscribe: true } : {};
  const plainly = Object.fromEntries([
    ...lists.map((name): [string, JsonObject] => [
      name,
      { ...(name === 'resources' && subscribe), listChanged: true },
    ]),
    ...plain.map((name): [string, JsonObject] => [name, {}]),
  ]);
  return { ...plainly, ...computeTaskCapabilities(offer, client) };
}
