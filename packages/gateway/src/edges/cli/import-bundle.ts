import type { ImportItem, ImportPlan, PlanAction } from '../../api/bundle.ts';
import type { CodedProblem } from '../../api/problem.ts';
import { isBundleLike } from '../../core/bundle/read-bundle.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { AppOptions } from '../../core/command-options.ts';
import { parseObject } from '@assay-mcp/kit/json-object';
import { confirm, isInteractive, readPassphrase } from './ask.ts';
import { print, printError, printJson, style, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';
import { withApi } from './with-api.ts';

export interface ImportBundleOptions extends AppOptions {
  readonly apply?: boolean;
  readonly keep?: boolean;
  readonly passphraseFile?: string;
  readonly json?: boolean;
}

/** The exported bundle in a file. Undefined if the file contains something else or cannot be read. */
export async function readBundleFile(runtime: Pick<Runtime, 'readFile'>, path: string): Promise<unknown> {
  const text = await runtime.readFile(path);
  if (!text.ok) return undefined;
  const value = parseObject(text.value);
  return isBundleLike(value) ? value : undefined;
}

/** `assay import FILE`: the plan on stdout, notes on stderr. Applied with --apply or after confirmation. */
export async function importBundle(
  runtime: Runtime,
  bundle: unknown,
  options: ImportBundleOptions,
): Promise<number> {
  const isSealed = typeof bundle === 'object' && bundle !== null && Object.hasOwn(bundle, 'sealed');
  const question = 'Passphrase of the bundle (empty: import it without its secrets):';
  const passphrase = isSealed
    ? await readPassphrase(runtime, options.passphraseFile, question)
    : ok(undefined);
  if (!passphrase.ok) return printRefusal(passphrase.error);
  const { apply = false, keep = false, json = false } = options;
  const onConflict = keep ? 'keep' : 'replace';
  return withApi(runtime, options, async (api) => {
    const send = (isApplied: boolean): Promise<Result<ImportPlan, CodedProblem>> => {
      const body = { bundle, passphrase: passphrase.value, onConflict, apply: isApplied };
      return api.send<ImportPlan>({ method: 'POST', path: '/import', body });
    };
    const planned = await send(apply);
    if (!planned.ok) return planned;
    printPlan(planned.value, json);
    if (apply || !isChanging(planned.value)) return planned;
    if (json || !isInteractive() || !(await confirm('Do this?'))) {
      printError('Nothing was changed; --apply does it.');
      return planned;
    }
    const done = await send(true);
    if (done.ok) print(closing(done.value));
    return done;
  });
}

function isChanging({ counts }: ImportPlan): boolean {
  return counts.create + counts.update > 0;
}

function printPlan(plan: ImportPlan, isJson: boolean): void {
  if (isJson) {
    printJson(plan);
    return;
  }
  const formatPlanValue = plan.items.filter(({ action }) => action !== 'unchanged');
  if (formatPlanValue.length > 0)
    print(`${formatTable(['WHAT', 'NAME', 'RESULT', 'CHANGED'], formatPlanValue.map(row))}\n`);
  print(closing(plan));
  for (const { kind, name, warnings } of formatPlanValue)
    for (const warning of warnings) printError(toPrintable(`note: ${kind} ${name}: ${warning}`));
}

function row({ kind, name, action, changed, before, after }: ImportItem): readonly string[] {
  const values =
    after === undefined ? changed.join(', ') : `${formatPlanValue(before)} -> ${formatPlanValue(after)}`;
  return [kind, name, COLOURED[action](action), values];
}

function formatPlanValue(value: ImportItem['before']): string {
  return value === undefined || value === null || value === '' ? 'none' : toPrintable(String(value));
}

const COLOURED: Readonly<Record<PlanAction, (text: string) => string>> = {
  create: (text) => style.green(text),
  update: (text) => style.yellow(text),
  unchanged: (text) => text,
  kept: (text) => text,
  omitted: (text) => text,
};

function closing({ applied, counts }: ImportPlan): string {
  const { create, update, unchanged, kept } = counts;
  const done = applied ? ['created', 'updated'] : ['to create', 'to update'];
  const leftOut = counts.omitted === 0 ? '' : `, ${counts.omitted} omitted`;
  const keeping = kept === 0 ? '' : `, ${kept} kept`;
  return `${create} ${done[0]}, ${update} ${done[1]}, ${unchanged} unchanged${keeping}${leftOut}.`;
}
