import { ok } from '@assay-mcp/kit/result';
import { readToolRefs } from '../../../core/tool-ref.ts';
import { TOOLSET_LIMITS } from '../../../core/toolset.ts';
import { formatMembers } from '../../../core/whole-server.ts';
import { toModelCaller, type ConfigurationContext } from './context.ts';
import type { OwnToolSpec } from './own-tool.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

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

export function createBuildTool(context: ConfigurationContext): OwnToolSpec {
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
      const { tools, autoEquip: equip, ...wanted } = args as unknown as ToolsetArguments; // as in the input schema
      const refs = readToolRefs(tools, 'arguments.tools');
      if (!refs.ok) return refs;
      const caller = toModelCaller(context, subject);
      const built = await context.toolsetService.create({ ...wanted, equip, tools: refs.value }, caller);
      if (!built.ok) return built;
      const { name, tools: members } = built.value.view;
      const isEquipped = equip === true;
      if (isEquipped) context.mode.set('normal');
      const next = isEquipped
        ? 'It is equipped: list the tools again to see them.'
        : 'equip-toolset makes its tools visible.';
      return ok({
        text: `The toolset "${name}" is saved with ${formatMembers(members)}. ${next}`,
        structured: { name, tools: members.map(({ namespacedName }) => namespacedName), isEquipped },
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
