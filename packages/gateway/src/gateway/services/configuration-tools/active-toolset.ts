import { isWithheld } from '../../catalog/definition-facts.ts';
import { UNSERVED_TEXTS, listUnserved, type Unserved, type UnservedReason } from '../toolsets/unserved.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { ok } from '@assay-mcp/kit/result';
import type { Toolset } from '../../../core/toolset.ts';
import { getEntryName } from '../toolsets/tool-index.ts';
import { select, type Selection } from '../toolsets/selection.ts';
import { waitForToolIndex } from '../toolsets/find-tools.ts';
import { toVisibleToolset, type ConfigurationContext } from './context.ts';
import { NO_INPUT, type OwnToolSpec, type OwnToolResult } from './own-tool.ts';
import type { CountTokens } from '../../ports/telemetry.ts';
import { countToolTokens } from './token-cost.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

const NAMES: JsonObject = { type: 'array', items: { type: 'string' } };

/** Output schema of the equipped toolset. */
export const ACTIVE: JsonObject = {
  equipped: {
    type: ['object', 'null'],
    properties: {
      name: { type: 'string' },
      description: { type: 'string' },
      tools: NAMES,
      absent: NAMES,
      contested: NAMES,
      changed: NAMES,
      new: NAMES,
      unserved: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            tool: { type: 'string' },
            reason: { type: 'string', enum: Object.keys(UNSERVED_TEXTS) },
          },
          required: ['tool', 'reason'],
        },
      },
      servers: NAMES,
      notes: { type: 'integer' },
      context: { type: 'object', properties: { tokens: { type: 'integer' } }, required: ['tokens'] },
    },
    required: [
      'name',
      'tools',
      'absent',
      'contested',
      'changed',
      'new',
      'unserved',
      'servers',
      'notes',
      'context',
    ],
  },
};

export function getActiveTool(context: ConfigurationContext): OwnToolSpec {
  return {
    name: 'get-active-toolset',
    title: 'Show the equipped toolset',
    description:
      'Shows the equipped toolset: its tools, which of them are not served and why (disabled by an operator, withheld, changed, server down, gone), and what they cost in tokens.',
    // It reads Assay's own state; no server is contacted.
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: NO_INPUT,
    output: { properties: ACTIVE },
    run: async (_, subject) => ok(await describeActiveToolset(context, subject)),
  };
}

const ABSENT: ReadonlySet<UnservedReason> = new Set([
  'server_starting',
  'server_down',
  'server_unknown',
  'tool_gone',
]);

/** Describes the equipped toolset and its current state. */
export async function describeActiveToolset(
  context: ConfigurationContext,
  subject: string,
): Promise<OwnToolResult> {
  const equipped = context.equipping.current;
  const toolset = equipped && toVisibleToolset(equipped, context, subject);
  if (toolset === undefined)
    return {
      text: `No toolset is equipped. ${howToEquip(context)}`,
      structured: { equipped: null },
    };
  const index = await waitForToolIndex(context, subject);
  const showsChanged = context.settings['toolsets.changed'] === 'show';
  const options = { index, servers: context.catalog.servers, showsChanged };
  const unserved = listUnserved(toolset, options);
  return resultOf(toolset, { ...select(toolset, options), unserved }, await context.loadTokenCounter());
}

/** In normal mode, the tools that equip a toolset are refused. */
function howToEquip({ mode: { names, current } }: ConfigurationContext): string {
  const tools = 'equip-toolset equips a saved one, and build-toolset makes one.';
  return names === undefined || current === 'configuration'
    ? tools
    : `Call "${names.enter}" first; then ${tools}`;
}

interface ShownSelection extends Selection {
  readonly unserved: readonly Unserved[];
}

function resultOf(toolset: Toolset, selection: ShownSelection, countTokens: CountTokens): OwnToolResult {
  const { contested, servers, unserved } = selection;
  const entries = selection.entries.filter(({ definition }) => !isWithheld(definition));
  const absent = unserved.flatMap(({ tool, reason }) => (ABSENT.has(reason) ? [tool] : []));
  const tokens = entries.reduce(
    (sum, { definition, notes: text }) =>
      sum + countToolTokens(definition, countTokens) + (text === undefined ? 0 : countTokens(text)),
    0,
  );
  const changed = [...selection.changed, ...selection.drifted].map(getEntryName);
  const fresh = selection.fresh.map(getEntryName);
  const notes = toolset.toolNotes.reduce((sum, { notes: some }) => sum + some.length, 0);
  const text = [
    `The toolset "${toolset.name}" is equipped${toolset.description === undefined ? '' : `: ${toolset.description}`}.`,
    `It shows ${formatCount(entries.length, 'tool')} of ${formatCount(servers.length, 'server')}, about ${formatCount(tokens, 'token')}, and has ${formatCount(notes, 'note')}.`,
    ...entries.map((entry) => `- ${entry.key}`),
    ...[...Map.groupBy(unserved, ({ reason }) => reason)].map(
      ([reason, some]) => `${UNSERVED_TEXTS[reason]}: ${some.map(({ tool }) => tool).join(', ')}.`,
    ),
    ...(fresh.length === 0 ? [] : [`New, and not accepted by an operator yet: ${fresh.join(', ')}.`]),
    ...(selection.changed.length + fresh.length === 0
      ? []
      : [`An operator sees what changed with \`assay toolset review ${toolset.name}\`.`]),
  ].join('\n');
  const equipped = {
    name: toolset.name,
    ...(toolset.description === undefined ? {} : { description: toolset.description }),
    tools: entries.map(({ key }) => key),
    absent,
    contested,
    changed,
    new: fresh,
    unserved,
    servers: servers.map(({ spec }) => spec.name),
    notes,
    context: { tokens },
  };
  return { text, structured: { equipped } };
}
