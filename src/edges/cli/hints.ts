import { Command } from 'commander';
import { type Hint, findMeantHint, HINTS } from '../../core/hints/hint.ts';
import { toPrintable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Tool } from '../../api/tool.ts';
import type { CodedProblem } from '../../api/problem.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import type { Api } from './api.ts';
import { print, printJson, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, toToolPath, withApi } from './with-api.ts';

/** `assay hints` */
export function hintsCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('hints')
      .argument('<tool>', 'public or namespaced name of the tool')
      .description('show the hints of a tool and their origins, or override them')
      .option('--set <hint=value...>', 'override hints: readOnlyHint=true, =false or =inherit')
      .option('--reason <text>', 'reason for the change, shown to later reviewers')
      .option('--json', 'print JSON')
      .action(async (tool: string, options: HintsOptions) =>
        done(await showToolHints(runtime, tool, options)),
      ),
  );
}

interface HintsOptions extends JsonOptions {
  /** `readOnlyHint=true` */
  readonly set?: readonly string[];
  readonly reason?: string;
}

/** `assay hints TOOL`: each hint with its source and all claims. `--set` changes hints like `PATCH /tools/{id}`. */
function showToolHints(runtime: Runtime, name: string, options: HintsOptions): Promise<number> {
  const { set, reason, json } = options;
  return withApi(runtime, options, async (api): Promise<Result<unknown, Refusal | CodedProblem>> => {
    const hints = hintsIn(set ?? []);
    if (!hints.ok) return hints;
    const found = await findTool(api, name);
    if (!found.ok) return found;
    const body = { annotations: hints.value, ...(reason !== undefined && { reason }) };
    const path = apiPath`/tools/${found.value.id}`;
    const tool = set === undefined ? found : await api.send<Tool>({ method: 'PATCH', path, body });
    if (!tool.ok) return tool;
    if (json === true) printJson({ tool: tool.value.name, hints: tool.value.hints });
    else show(tool.value);
    return tool;
  });
}

const VALUES: Readonly<Record<string, boolean | null>> = { true: true, false: false, inherit: null };

function hintsIn(texts: readonly string[]): Result<Partial<Record<Hint, boolean | null>>, Refusal> {
  const hints: Partial<Record<Hint, boolean | null>> = {};
  for (const text of texts) {
    const [key = '', given = '', ...more] = text.split('=');
    const hint = findMeantHint(key) ?? findMeantHint(`${key}Hint`);
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

function show({ name, hints }: Tool): void {
  print(toPrintable(name));
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
  print(formatTable(['HINT', 'VALUE', 'WHY, AND ALL CLAIMS'], rows));
}

/** All tools of all servers, compared with the accepted definitions. */
export function listAllTools(api: Api): Promise<Result<readonly Tool[], CodedProblem>> {
  return listAll(api, '/tools', { name: 'tools' });
}

/** Finds a tool by public name, namespaced name or id. TOOL_UNKNOWN suggests the nearest name. */
export async function findTool(api: Api, name: string): Promise<Result<Tool, CodedProblem | Refusal>> {
  const path = toToolPath(name);
  return path.ok ? api.send<Tool>({ method: 'GET', path: path.value }) : path;
}
