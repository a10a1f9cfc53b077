import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { locateConfig } from '../adapters/config/locate-config.ts';
import type { Confine } from '../adapters/sandbox/confine.ts';
import type { SandboxSupport } from '../core/sandbox.ts';

/** Confines servers, and keeps Assay's home and config file from them. Loaded with the first server in a sandbox. */
export function confineIn(
  home: string,
  config: string | undefined,
  configEnvironment: ConfigEnvironment,
): Confine {
  const { path } = locateConfig({ flag: config, ...configEnvironment });
  return async (...given) => {
    const { confineWith } = await import('../adapters/sandbox/confine.ts');
    return confineWith([home, path])(...given);
  };
}

/** Whether this machine can confine servers. Tried out once per process. */
export async function sandboxSupport(): Promise<SandboxSupport> {
  const { probeEnforcement } = await import('../adapters/sandbox/enforcement.ts');
  const found = await probeEnforcement();
  return found.ok ? { canEnforce: true, lacks: found.value.lacks } : { canEnforce: false, gap: found.error };
}
