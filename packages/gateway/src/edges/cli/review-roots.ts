import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { print, printError, printJson, style } from '@assay-mcp/kit/platform/terminal/print';
import type { AcceptOptions } from './review-instructions.ts';
import type { OpenServices } from './runtime.ts';

/** Shows where the paths lead that a server with a sandbox declares, or accepts that. SERVER_UNKNOWN */
export async function reviewRoots(
  { serverSpecs, roots }: Pick<OpenServices, 'serverSpecs' | 'roots'>,
  name: string,
  { accept = false, json = false }: AcceptOptions,
): Promise<Result<unknown, Refusal>> {
  const specs = serverSpecs();
  const spec = specs.find((one) => one.name === name);
  if (spec === undefined) return err({ code: 'SERVER_UNKNOWN', name, known: specs.map((one) => one.name) });
  const change = await roots(spec);
  if (!change.ok) return err({ code: 'SERVER_UNAVAILABLE', server: name, cause: change.error });
  const { stored, now } = change.value ?? { stored: [], now: [] };
  if (json) printJson({ server: name, stored, now, accepted: accept });
  else showRoots({ name, stored, now });
  if (!accept || change.value === undefined) {
    if (!json && change.value !== undefined)
      printError('`--accept` accepts these roots; the server has them from its next start on.');
    return ok(undefined);
  }
  const accepted = await change.value.accept();
  if (!accepted.ok) return err({ code: 'SERVER_UNAVAILABLE', server: name, cause: accepted.error });
  if (!json) print(`Accepted the roots of ${toPrintable(name)}.`);
  return ok(undefined);
}

function showRoots({
  name,
  stored,
  now,
}: {
  readonly name: string;
  readonly stored: readonly string[];
  readonly now: readonly string[];
}): void {
  print(`The roots of ${toPrintable(name)}, since its entry was first read:`);
  for (const path of stored.filter((one) => now.includes(one))) print(`  = ${toPrintable(path)}`);
  for (const path of stored.filter((one) => !now.includes(one))) print(style.red(`  - ${toPrintable(path)}`));
  for (const path of now.filter((one) => !stored.includes(one)))
    print(style.green(`  + ${toPrintable(path)}`));
  if (stored.length + now.length === 0) print('  none');
}
