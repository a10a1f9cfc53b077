import { LOCAL } from '../../core/subject.ts';
import type { Connect } from '../../gateway/ports/link.ts';
import type { UpstreamDeps, Opening } from './opening.ts';

/**
 * Makes the port through which the gateway reaches servers of every kind. What one kind needs is loaded with the first
 * server of that kind: the HTTP client alone takes as long as all the rest of a start.
 */
export function upstream(given: Omit<UpstreamDeps, 'suspects'>): Connect {
  const deps: UpstreamDeps = { ...given, suspects: new Map() };
  return async (spec, asked) => {
    const { client: profile } = asked;
    // A link that all share is that of whoever runs Assay.
    const subject = profile !== undefined && 'subject' in profile ? profile.subject : LOCAL.subject;
    const opening: Opening = { spec, deps, subject, ...asked };
    const { transport } = spec;
    if (transport.kind === 'stdio') {
      const { openStdio } = await import('./stdio-link.ts');
      return openStdio(opening, transport);
    }
    if (transport.kind !== 'http') throw new Error('Assay makes these tools itself.');
    const { connectHttp } = await import('./http-connect.ts');
    return connectHttp(opening, transport);
  };
}
