import type { Finding } from './finding.ts';
import { gapRemedy, gapText, type SandboxSupport } from './sandbox.ts';

/** Checks whether the machine can enforce the sandboxes of these servers. */
export function checkSandbox(servers: readonly string[], support: SandboxSupport): readonly Finding[] {
  if (!support.canEnforce)
    return servers.map((about): Finding => ({
      check: 'sandbox',
      level: 'problem',
      about,
      code: 'SANDBOX_UNAVAILABLE',
      message: `Its sandbox cannot be enforced, so what would run in it is refused: ${gapText(support.gap)}.`,
      remedy: gapRemedy(support.gap),
    }));
  return [
    ...servers.map((about): Finding => ({
      check: 'sandbox',
      level: 'ok',
      about,
      message: 'Its sandbox can be enforced on this machine.',
    })),
    ...support.lacks.map((lack): Finding => ({
      check: 'sandbox',
      level: 'warning',
      about: servers.join(', '),
      message: capitalized(`${gapText(lack)}.`),
      remedy: gapRemedy(lack),
    })),
  ];
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
