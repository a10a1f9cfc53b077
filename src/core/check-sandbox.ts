import type { Finding } from './finding.ts';
import { gapRemedy, gapText, type SandboxSupport } from './sandbox.ts';

/** Checks whether the machine can enforce the sandboxes of these servers. */
export function checkSandbox(servers: readonly string[], support: SandboxSupport): readonly Finding[] {
  return servers.map((about): Finding =>
    support.canEnforce
      ? { check: 'sandbox', level: 'ok', about, message: 'Its sandbox can be enforced on this machine.' }
      : {
          check: 'sandbox',
          level: 'problem',
          about,
          code: 'SANDBOX_UNAVAILABLE',
          message: `Its sandbox cannot be enforced, so what would run in it is refused: ${gapText(support.gap)}.`,
          remedy: gapRemedy(support.gap),
        },
  );
}
