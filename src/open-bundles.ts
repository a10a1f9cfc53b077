import { passphraseSeal } from './adapters/auth/passphrase-seal.ts';
import { secretMembers } from './adapters/telemetry/secret-members.ts';
import { isSettingKey } from './core/settings.ts';
import { fixOf } from './core/resolve-settings.ts';
import { BundleDesk } from './gateway/services/bundles/bundle-desk.ts';
import type { GatewayDesk } from './gateway/services/servers/gateway-desk.ts';
import type { Toolsets } from './gateway/services/toolsets/toolsets.ts';
import type { OpenedConfig } from './opening.ts';
import { reachFaultsBy } from './reach-in.ts';

interface Beside {
  readonly gateways: GatewayDesk;
  readonly toolsets?: Toolsets;
}

/** Export and import of all that operators made. */
export function openBundles(
  { said, catalog, store, settings, fileSettings, ground, rules }: OpenedConfig,
  { gateways, toolsets }: Beside,
): BundleDesk {
  const sources = { env: ground.around.env, file: fileSettings };
  return new BundleDesk({
    ...said,
    catalog,
    open: store.open,
    toolsets,
    passphraseSeal,
    reachFaults: reachFaultsBy(rules),
    secretMembers,
    configNames: () => gateways.all().flatMap(({ name, origin }) => (origin === 'config file' ? [name] : [])),
    settingFix: (key) => (isSettingKey(key) ? fixOf(key, sources) : undefined),
    runningSetting: (key) => settings[key],
    nowMs: () => Date.now(),
  });
}
