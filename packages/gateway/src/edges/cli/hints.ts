import { Command } from 'commander';
import { type Hint, findMeantHint, HINTS } from '@assay-mcp/kit/hint';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Tool } from '../../api/tool.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { GatewayStatus } from '../../api/status.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { EXIT } from '../../core/errors.ts';
import { SUGGESTED } from '../../core/hints/suggest-hints.ts';
import { confirm, isInteractive } from './ask.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import type { Api } from './api.ts';
import {
  print,
  printError,
  printJson,
  formatProse,
  formatTable,
} from '@assay-mcp/kit/platform/terminal/print';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, toToolPath, withApi, withApiExit } from './with-api.ts';

/** `assay hints` */
export function hintsCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('hints')
      .argument('<tool>', 'public or namespaced name of the tool')
      .description('show the hints of a tool and their origins, or override them')
      .option('--set <hint=value...>', 'override hints: readOnlyHint=true, =false or =inherit')
      .option('--reason <text>', 'reason for the change, shown to later reviewers')
      .option('--suggested', 'for the name of a server: accept what the names of its tools suggest')
      .option('--yes', 'with --suggested: accept without asking')
      .option('--json', 'print JSON')
      .action(async (tool: string, options: HintsOptions) =>
        done(await (options.suggested === true ? acceptSuggested : showToolHints)(runtime, tool, options)),
      ),
  );
}

interface HintsOptions extends JsonOptions {
  /** `readOnlyHint=true` */
  readonly set?: readonly string[];
  readonly reason?: string;
  readonly suggested?: boolean;
  readonly yes?: boolean;
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
      ...claims.map(({ kind, source, value, origin, reason: why, suspended }) => {
        const seen = source === 'study' && why !== undefined ? `: ${why}` : '';
        const note = suspended === undefined ? '' : ` (suspended: ${suspended})`;
        return ['', '', `${kind} ${String(value)} by ${origin}${seen}${note}`];
      }),
    ];
  });
  print(formatTable(['HINT', 'VALUE', 'WHY, AND ALL CLAIMS'], rows));
}

/**
 * `assay hints SERVER --suggested`: lists what the names of its tools suggest. Accepted suggestions become overrides for
 * exactly the definitions that were shown.
 */
function acceptSuggested(runtime: Runtime, server: string, options: HintsOptions): Promise<number> {
  const { json, yes, set } = options;
  return withApiExit(runtime, options, async (api): Promise<Result<number, Refusal | CodedProblem>> => {
    if (set !== undefined)
      return err({
        code: 'ARGUMENTS_INVALID',
        reason: '--suggested accepts what is suggested; leave out --set',
      });
    const tools = await listAllTools(api, { server });
    if (!tools.ok) return tools;
    const known = await findKnownServers(api);
    if (!known.ok) return known;
    if (!known.value.includes(server))
      return err({ code: 'SERVER_UNKNOWN', name: server, known: known.value });
    const suggested = tools.value.flatMap(toSuggestion);
    const isAsked = yes !== true && isInteractive() && json !== true;
    if (json !== true) showSuggestions(server, suggested);
    if (suggested.length === 0 || (isAsked && !(await confirm('Accept these hints?')))) return ok(EXIT.done);
    if (yes !== true && !isAsked) {
      if (json === true) printJson({ server, suggested, accepted: [] });
      printError('Nothing was changed. `--yes` accepts these hints.');
      return ok(EXIT.done);
    }
    const accepted: string[] = [];
    for (const suggestion of suggested) {
      const done = await acceptOne(api, suggestion);
      if (!done.ok) return done;
      if (done.value) accepted.push(suggestion.tool);
    }
    const changed = suggested.length - accepted.length;
    if (json === true) printJson({ server, suggested, accepted });
    else
      print(
        `Set the hints of ${formatCount(accepted.length, 'tool')}. \`assay hints TOOL --set readOnlyHint=inherit\` undoes one.`,
      );
    if (changed > 0)
      printError(
        `${formatCount(changed, 'tool')} changed meanwhile and ${changed === 1 ? 'was' : 'were'} left as ${changed === 1 ? 'it is' : 'they are'}.`,
      );
    return ok(EXIT.done);
  });
}

interface Suggestion {
  readonly tool: string;
  readonly id: string;
  /** Of the definition that the suggestion is about. */
  readonly digest: string;
  readonly hints: NonNullable<Tool['suggested']>;
}

function toSuggestion({ name, id, digest, suggested }: Tool): readonly Suggestion[] {
  return suggested === undefined ? [] : [{ tool: name, id, digest, hints: suggested }];
}

/** False if the tool is no longer the one that was shown. */
async function acceptOne(
  api: Api,
  { id, digest, hints }: Suggestion,
): Promise<Result<boolean, CodedProblem>> {
  const path = apiPath`/tools/${id}`;
  const read = await api.read<Tool>(path);
  if (!read.ok) return read;
  const { value, etag: ifMatch } = read.value;
  if (value.digest !== digest || value.suggested === undefined) return ok(false);
  const body = { annotations: hints, reason: SUGGESTED };
  const sent = await api.send<Tool>({ method: 'PATCH', path, body, ifMatch });
  return sent.ok ? ok(true) : sent;
}

async function findKnownServers(api: Api): Promise<Result<readonly string[], CodedProblem>> {
  const status = await api.send<GatewayStatus>({ method: 'GET', path: '/status' });
  return status.ok ? ok(status.value.servers.map(({ name }) => name)) : status;
}

function showSuggestions(server: string, suggested: readonly Suggestion[]): void {
  if (suggested.length === 0)
    return printError(
      `Nothing is suggested for the tools of ${toPrintable(server)}: each has hints, or may write.`,
    );
  const rows = suggested.map(({ tool, hints }) => [
    tool,
    HINTS.flatMap((hint) => (hint in hints ? [`${hint}: true`] : [])).join(', '),
  ]);
  print(formatTable(['TOOL', 'SUGGESTED BY ITS NAME'], rows));
  printError(
    formatProse(
      'A tool that only reads is asked about less. Accepting sets an override for exactly this definition; a more dangerous one suspends it.',
    ),
  );
}

/** All tools of all servers, compared with the accepted definitions. */
export function listAllTools(
  api: Api,
  query: Readonly<Record<string, string>> = {},
): Promise<Result<readonly Tool[], CodedProblem>> {
  return listAll(api, '/tools', { name: 'tools', query });
}

/** Finds a tool by public name, namespaced name or id. TOOL_UNKNOWN suggests the nearest name. */
export async function findTool(api: Api, name: string): Promise<Result<Tool, CodedProblem | Refusal>> {
  const path = toToolPath(name);
  return path.ok ? api.send<Tool>({ method: 'GET', path: path.value }) : path;
}
