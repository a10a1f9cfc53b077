import { type Hint, hintMeant, HINTS } from '../../core/hints/hint.ts';
import { nearest } from '../../core/nearest.ts';
import { printable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { ToolView } from '../../gateway/services/tools/tool-view.ts';
import { print, printJson, tableOf } from './output.ts';
import type { OpenServices, Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';

export interface HintsOptions extends JsonOptions {
  /** `readOnlyHint=true` */
  readonly set?: readonly string[];
  readonly reason?: string;
}

/** `assay hints TOOL`: each hint with its source and all claims. `--set` changes hints like `PATCH /tools/{id}`. */
export function toolHints(runtime: Runtime, name: string, options: HintsOptions): Promise<number> {
  return withOpened(runtime.openServices(options), async (services): Promise<Result<unknown, Refusal>> => {
    const hints = hintsIn(options.set ?? []);
    if (!hints.ok) return hints;
    const found = namedTool(await allTools(services), name);
    if (!found.ok) return found;
    const isChange = options.set !== undefined;
    const patch = { annotations: { replaces: false, hints: hints.value }, reason: options.reason };
    const tool = isChange
      ? await services.customTools.change(found.value.id, { patch }, { subject: LOCAL_USER.subject })
      : found;
    if (!tool.ok) return tool;
    if (options.json === true) printJson({ tool: tool.value.name, hints: tool.value.hints });
    else show(tool.value);
    return tool;
  });
}

const VALUES: Readonly<Record<string, boolean | null>> = { true: true, false: false, inherit: null };

function hintsIn(texts: readonly string[]): Result<Partial<Record<Hint, boolean | null>>, Refusal> {
  const hints: Partial<Record<Hint, boolean | null>> = {};
  for (const text of texts) {
    const [key = '', given = '', ...more] = text.split('=');
    const hint = hintMeant(key) ?? hintMeant(`${key}Hint`);
    const value = Object.hasOwn(VALUES, given) ? VALUES[given] : undefined;
    if (hint === undefined || value === undefined || more.length > 0)
      return err({
        code: 'ARGUMENTS_INVALID',
        reason: `--set ${text}: write HINT=true, HINT=false or HINT=inherit; the hints are ${HINTS.join(', ')}`,
      });
    hints[hint] = value;
  }
  return ok(hints);
}

function show({ name, hints }: ToolView): void {
  print(printable(name));
  const rows = HINTS.flatMap((hint) => {
    const { effective, reason, claims } = hints[hint];
    return [
      [hint, String(effective), reason],
      ...claims.map(({ kind, value, origin, suspended }) => [
        '',
        '',
        `${kind} ${String(value)} by ${origin}${suspended === undefined ? '' : ` (suspended: ${suspended})`}`,
      ]),
    ];
  });
  print(tableOf(['HINT', 'VALUE', 'WHY, AND ALL CLAIMS'], rows));
}

const MAX_TOOLS = 100_000;

/** All tools of all servers. Starts the servers and compares their tools with the accepted definitions. */
export async function allTools({ tools, startAll }: OpenServices): Promise<readonly ToolView[]> {
  await startAll();
  return (await tools.page({}, { limit: MAX_TOOLS })).tools;
}

/** Finds a tool by public name, namespaced name or id. REF_UNKNOWN suggests the nearest name. */
export function namedTool(tools: readonly ToolView[], name: string): Result<ToolView, Refusal> {
  const found = tools.find((tool) => [tool.name, tool.namespacedName, tool.id].includes(name));
  if (found !== undefined) return ok(found);
  const near = nearest(
    name,
    tools.flatMap((tool) => [tool.name, tool.namespacedName]),
  );
  return err({ code: 'REF_UNKNOWN', ref: name, ...(near !== undefined && { nearest: near }) });
}
