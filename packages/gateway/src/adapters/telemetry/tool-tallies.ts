import { toPrintable } from '@assay-mcp/kit/printable';
import { shorten } from '@assay-mcp/kit/shorten';
import { ToolTally } from './tally.ts';

/** Maximum number of tools with labels of their own, of one server and of all. */
export const MAX_TOOLS_PER_SERVER = 100;
export const MAX_TOOLS = 1_000;
/** The label of all other tools of a server. Public names cannot contain a space, so that no tool has it. */
export const OTHER_TOOLS = 'other tools';
const MAX_LABEL_LENGTH = 128;

interface ServerTools {
  readonly byName: Map<string, ToolTally>;
  readonly byLabel: Map<string, ToolTally>;
  other: ToolTally | undefined;
}

/**
 * The counters of tools. Servers choose the names of their tools and may change them at any time, so a server gets a
 * bounded number of labels, for the tools that are called first.
 */
export class ToolTallies {
  readonly #servers = new Map<string, ServerTools>();
  #count = 0;

  /** `name`: as the server has it. */
  of(server: string, name: string): ToolTally {
    return this.#servers.get(server)?.byName.get(name) ?? this.#find(server, name);
  }

  all(): readonly ToolTally[] {
    return [...this.#servers.values()].flatMap(({ byLabel, other }) => [
      ...byLabel.values(),
      ...(other === undefined ? [] : [other]),
    ]);
  }

  #find(server: string, name: string): ToolTally {
    let tools = this.#servers.get(server);
    if (tools === undefined)
      this.#servers.set(server, (tools = { byName: new Map(), byLabel: new Map(), other: undefined }));
    // Names beyond the bound are not remembered either.
    if (tools.byName.size >= MAX_TOOLS_PER_SERVER || this.#count >= MAX_TOOLS)
      return (tools.other ??= new ToolTally(server, OTHER_TOOLS));
    const label = toPrintable(shorten(name, MAX_LABEL_LENGTH));
    const tally = tools.byLabel.get(label) ?? new ToolTally(server, label);
    tools.byLabel.set(label, tally);
    tools.byName.set(name, tally);
    this.#count += 1;
    return tally;
  }
}
