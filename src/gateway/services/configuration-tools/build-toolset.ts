import { argumentFault, type Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { readToolRefs } from '../../../core/tool-ref.ts';
import {
  descriptionFault,
  TOOLSET_LIMITS,
  toolsetNameFault,
  type Toolset,
  withTools,
} from '../../../core/toolset.ts';
import { membersText } from '../../../core/whole-server.ts';
import { toolOf } from '../toolsets/holding.ts';
import { resolveAll } from '../toolsets/tool-index.ts';
import { indexFor, type ConfigurationContext } from './context.ts';
import type { OwnToolSpec } from './own-tool.ts';
import type { JsonObject } from '../../../core/json-object.ts';

/** A reference to a tool as the requirements define it. */
export const TOOL_REF_OBJECT: JsonObject = {
  type: 'object',
  properties: {
    namespacedName: {
      type: 'string',
      description: "Tool reference by namespaced name (e.g., 'linear.create_issue')",
    },
    refId: { type: 'string', description: 'Tool reference by unique hash identifier' },
  },
  description: 'Reference to the tool (use namespacedName or refId)',
};

/** A reference to a tool in any form in which a model has seen one. */
export const TOOL_REF: JsonObject = {
  anyOf: [
    {
      type: 'string',
      description:
        "Name of the tool, e.g. 'linear.create_issue', or its refId. In a toolset, 'linear.*' means all tools of that server, later ones included",
    },
    TOOL_REF_OBJECT,
  ],
};

export function buildTool(context: ConfigurationContext): OwnToolSpec {
  return {
    name: 'build-toolset',
    title: 'Build a new toolset',
    description:
      'Builds and saves a toolset of tools that list-available-tools shows. A tool that is named by refId is held to its definition as it is now: if that changes, the tool is withheld until an operator accepts it. With "autoEquip": true the toolset is equipped' +
      (context.mode.names === undefined ? '.' : ', and Assay returns to normal mode.'),
    // It adds a toolset and replaces none; a second call is refused because the name is taken.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: {
      type: 'object',
      properties: {
        name: {
          type: 'string',
          description: 'Lowercase letters, digits and hyphens',
          minLength: 2,
          maxLength: 50,
          pattern: '^[a-z0-9-]+$',
        },
        tools: { type: 'array', items: TOOL_REF, minItems: 1, maxItems: TOOLSET_LIMITS.tools },
        description: {
          type: 'string',
          maxLength: TOOLSET_LIMITS.descriptionLength,
          description: 'What the toolset is for',
        },
        autoEquip: { type: 'boolean', description: 'Equip it at once' },
      },
      required: ['name', 'tools'],
      additionalProperties: false,
    },
    output: {
      properties: {
        name: { type: 'string' },
        tools: { type: 'array', items: { type: 'string' } },
        isEquipped: { type: 'boolean' },
      },
    },
    run: async (args, subject) => {
      const wanted = args as unknown as ToolsetArguments; // the input schema requires this shape
      const built = await buildToolset(context, wanted, subject);
      if (!built.ok) return built;
      const { name, tools } = built.value;
      const isEquipped = wanted.autoEquip === true;
      if (isEquipped) context.mode.set('normal');
      const next = isEquipped
        ? 'It is equipped: list the tools again to see them.'
        : 'equip-toolset makes its tools visible.';
      return ok({
        text: `The toolset "${name}" is saved with ${membersText(tools)}. ${next}`,
        structured: { name, tools: tools.map(({ namespacedName }) => namespacedName), isEquipped },
      });
    },
  };
}

interface ToolsetArguments {
  readonly name: string;
  readonly tools: readonly unknown[];
  readonly description?: string;
  readonly autoEquip?: boolean;
}

async function buildToolset(
  context: ConfigurationContext,
  wanted: ToolsetArguments,
  subject: string,
): Promise<Result<Toolset, Refusal>> {
  const { name, description, autoEquip: equip = false } = wanted;
  // The model could neither annotate nor delete the new toolset.
  if (context.settings['toolsets.modelsMayChange'] === 'none')
    return err({ code: 'TOOLSET_PROTECTED', toolset: undefined });
  const wrong =
    argumentFault('name', toolsetNameFault(name)) ??
    argumentFault('description', description === undefined ? undefined : descriptionFault(description));
  if (wrong !== undefined) return err(wrong);
  const refs = readToolRefs(wanted.tools, 'arguments.tools');
  if (!refs.ok) return refs;
  const index = await indexFor(context, refs.value, subject);
  const tools = resolveAll(refs.value, (ref) => toolOf(ref, { index, servers: context.catalog.servers }));
  if (!tools.ok) return tools;
  const maker = { by: 'model', subject } as const;
  const empty = { name, description, maker, tools: [], toolNotes: [], createdMs: 0, changedMs: 0 };
  const full = withTools(empty, tools.value);
  return full.ok ? context.equipping.create(full.value, { by: subject, equip }) : full;
}
