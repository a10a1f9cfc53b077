import type { ServerSpec } from '../../core/server-spec.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Connectors, OpenOptions as Asked } from '../../gateway/ports/link.ts';
import type { LinkAttempt, UpstreamDeps } from './opening.ts';

/**
 * Opens links to MCP servers. Each transport's code is loaded with its first server: the HTTP client alone takes as
 * long as the rest of startup.
 */
export function createUpstreamConnectors(
  given: Omit<UpstreamDeps, 'suspects' | 'discarding'>,
): Connectors<'stdio' | 'http'> {
  const deps: UpstreamDeps = { ...given, suspects: new Map(), discarding: new Set() };
  const openingOf = (spec: ServerSpec, asked: Asked): LinkAttempt => {
    const { client } = asked;
    // A link shared by all clients acts for the user who runs Assay.
    const subject = client !== undefined && 'subject' in client ? client.subject : LOCAL_USER.subject;
    return { spec, deps, subject, ...asked };
  };
  return {
    stdio: async (spec, transport, asked) => {
      const { openStdio } = await import('./stdio-link.ts');
      return openStdio(openingOf(spec, asked), transport);
    },
    http: async (spec, transport, asked) => {
      const { connectHttp } = await import('./http-connect.ts');
      return connectHttp(openingOf(spec, asked), transport);
    },
  };
}
