import { namedUrls, reachRemedy, reachRules, type ReachRules } from './core/reach.ts';
import type { Settings } from './core/settings.ts';
import type { EntryFault } from './core/sources/entry-fault.ts';
import type { ReachFaults } from './gateway/ports/gateways.ts';
import { reachesOf, type Reach } from './platform/addresses.ts';

/** Where this process may reach. `isOnNetwork`: whether other machines reach it. */
export function reachIn(
  settings: Pick<Settings, 'http.allowLoopback' | 'http.allowPrivate'>,
  isOnNetwork = false,
): ReachRules {
  return reachRules({
    isOnNetwork,
    allowLoopback: settings['http.allowLoopback'],
    allowPrivate: settings['http.allowPrivate'],
  });
}

/** A name that is not known may become known, and is looked at again with each connection. */
export function reachFaultsBy(
  rules: ReachRules,
  resolve: (hostname: string) => Promise<readonly Reach[]> = reachesOf,
): ReachFaults {
  return async (spec, entry, former = {}) => {
    const faults: EntryFault[] = [];
    for (const { field, url } of namedUrls(spec)) {
      if (entry[field] === undefined || entry[field] === former[field]) continue;
      const reaches = await resolve(url.hostname);
      if (reaches.length === 0 || reaches.some((reach) => rules.operator.has(reach))) continue;
      const reason = `It leads to a ${reaches.join(' and ')} address: ${reachRemedy(reaches, 'operator')}.`;
      faults.push({ field, reason });
    }
    return faults;
  };
}
