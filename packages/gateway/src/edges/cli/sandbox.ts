import { Command } from 'commander';
import { EXIT } from '../../core/errors.ts';
import { RIGHTS_TEXTS } from '../../core/guarantee.ts';
import { getGapRemedy, formatGap, type SandboxSupport } from '@assay-mcp/sandbox/support';
import type { Done } from './common-options.ts';
import { print, printJson, formatProse } from '@assay-mcp/kit/platform/terminal/print';

/** `assay sandbox check` */
export function sandboxCommand(runtime: SandboxPort, done: Done): Command {
  const check = new Command('check')
    .description('say whether this machine can enforce sandboxes, and what to install')
    .option('--json', 'print JSON')
    .action(async (options: CheckOptions) => done(await checkSandbox(runtime, options)));
  return new Command('sandbox')
    .description('sandboxes of servers whose config entry has "sandbox"')
    .addCommand(check);
}

export interface SandboxPort {
  /** Tests whether this machine can confine servers. */
  sandboxSupport(): Promise<SandboxSupport>;
}

interface CheckOptions {
  readonly json?: boolean;
}

/** Prints what this machine can enforce. Fails if it can enforce nothing. */
async function checkSandbox(runtime: SandboxPort, { json = false }: CheckOptions): Promise<number> {
  const support = await runtime.sandboxSupport();
  if (json) printJson(asJson(support));
  else if (support.canEnforce) {
    print('This machine can enforce sandboxes.\n');
    for (const [kind, text] of Object.entries(RIGHTS_TEXTS))
      print(`${kind}\n${formatProse(text, { indent: '  ' })}`);
    if (support.lacks.length > 0) print('\nMissing:');
    for (const { reason, remedy } of support.lacks.map(whyNot))
      print(`- ${formatProse(`${reason}. ${remedy}`, { indent: '  ' }).trimStart()}`);
  } else {
    const { reason, remedy } = whyNot(support.gap);
    print(formatProse(`This machine cannot enforce sandboxes: ${reason}. ${remedy}`));
  }
  return support.canEnforce ? EXIT.done : EXIT.failed;
}

function asJson(support: SandboxSupport): unknown {
  if (!support.canEnforce) return { ...support, ...whyNot(support.gap) };
  return { ...support, lacks: support.lacks.map((gap) => ({ gap, ...whyNot(gap) })) };
}

function whyNot(gap: Parameters<typeof formatGap>[0]): { readonly reason: string; readonly remedy: string } {
  return { reason: formatGap(gap), remedy: getGapRemedy(gap) };
}
