import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatGap, formatUnsafePath } from './support.ts';
import type { Child, ChildOptions } from '@assay-mcp/kit/platform/child';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { confineWith } from './confine.ts';

/**
 * Starts a process of Assay's own code like a twin: it can change no file and has no network. `dataMiB`: maximum data
 * that it may have in memory. The error is a phrase.
 */
export async function startConfined(
  options: ChildOptions,
  { dataMiB }: { readonly dataMiB: number },
): Promise<Result<Child, string>> {
  const { command, args, cwd, env } = options;
  const confined = await confineWith([])(
    { command, args, cwd, env },
    { rights: 'read', dataMiB, namedReaches: new Set() },
  );
  if (confined.ok) return ok(PLAIN_LAUNCHER.launch(confined.value));
  const gap = confined.error;
  return err(typeof gap === 'string' ? formatGap(gap) : formatUnsafePath(gap));
}
