import { type Confirm, CONFIRMS } from '../../core/confirm.ts';
import { descriptionFault, publicNameFault } from '../../core/hints/tool-record.ts';
import { printable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { ToolView } from '../../gateway/services/tools/tool-view.ts';
import { allTools, namedTool } from './hints.ts';
import { argumentFault, print, printComplaint, printError, printJson, quoted } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';

export interface EditOptions extends JsonOptions {
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly confirm?: string;
  readonly reason?: string;
}

/** `assay edit`: the operator's name, title and description of a tool. An empty text restores the server's. */
export async function editTool(runtime: Runtime, tool: string, options: EditOptions): Promise<number> {
  const { name, title, description, confirm, reason } = options;
  const isNothing = [name, title, description, confirm].every((given) => given === undefined);
  const wrong: Refusal | undefined = isNothing
    ? { code: 'ARGUMENTS_INVALID', reason: 'say what to change: --name, --title, --description or --confirm' }
    : (argumentFault('--name', name ? publicNameFault(name) : undefined) ??
      argumentFault('--description', description ? descriptionFault(description) : undefined));
  if (wrong !== undefined) return printComplaint(wrong);
  return withOpened(runtime.openServices(options), async (services): Promise<Result<unknown, Refusal>> => {
    const found = namedTool(await allTools(services), tool);
    if (!found.ok) return found;
    if (found.value.source === 'rest' && (name !== undefined || description !== undefined))
      return err({
        code: 'ARGUMENTS_INVALID',
        reason: 'a REST tool keeps its name, and its description is changed with `PATCH /tools/{id}`',
      });
    const patch = {
      name: restored(name),
      title: restored(title),
      description: restored(description),
      confirm: confirmIn(confirm),
      reason,
    };
    const edited = await services.tools.change(found.value.id, patch, { subject: LOCAL_USER.subject });
    if (!edited.ok) return edited;
    if (options.json === true) printJson(edited.value);
    else show(edited.value);
    return edited;
  });
}

function restored(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

/** `session` is a synonym of `first`, and `default` returns to the preference. */
function confirmIn(given: string | undefined): Confirm | null | undefined {
  if (given === undefined) return undefined;
  return CONFIRMS.find((known) => known === (given === 'session' ? 'first' : given)) ?? null;
}

function show({ name, namespacedName, title, description, confirm, original }: ToolView): void {
  print(`Clients see ${quoted(namespacedName)} as ${quoted(name)}.`);
  if (title !== undefined) print(`Title: ${printable(title)}`);
  if (description !== undefined) print(`Description: ${printable(description)}`);
  if (confirm !== undefined) print(`Confirm: ${confirm}`);
  if (original?.description !== undefined && original.description !== description)
    printError(`Its server says: ${printable(original.description)}`);
}
