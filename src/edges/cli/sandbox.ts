import { EXIT } from '../../core/errors.ts';
import { getGapRemedy, formatGap, RIGHTS_TEXTS, type SandboxSupport } from '../../core/sandbox.ts';
import { print, printJson, formatProse } from './output.ts';

export interface SandboxPort {
  /** Tests whether this machine can confine servers. */
  sandboxSupport(): Promise<SandboxSupport>;
}

export interface CheckOptions {
  readonly json?: boolean;
}

/** Prints what this machine can enforce. Fails if it can enforce nothing. */
export async function checkSandbox(runtime: SandboxPort, { json = false }: CheckOptions): Promise<number> {
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
