import { err, ok } from '@assay-mcp/kit/result';
import type { Toolset } from '../../../core/toolset.ts';
import { isWhole } from '../../../core/whole-server.ts';
import { describeActiveToolset, ACTIVE } from './active-toolset.ts';
import { toModelCaller, toVisibleToolset, type ConfigurationContext } from './context.ts';
import { NO_INPUT, type OwnToolSpec } from './own-tool.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

const NAME: JsonObject = { type: 'string', description: 'Name of a saved toolset' };

export function createListSavedTool(context: ConfigurationContext): OwnToolSpec {
  return {
    name: 'list-saved-toolsets',
    title: 'List all saved toolsets',
    description:
      'Lists all saved toolsets with their tools and how many notes are on them, and says which one is equipped.',
    // It only reads saved toolsets.
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: NO_INPUT,
    output: {
      properties: {
        toolsets: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              description: { type: 'string' },
              tools: { type: 'array', items: { type: 'object' } },
              notes: { type: 'integer' },
              isEquipped: { type: 'boolean' },
            },
            required: ['name', 'tools', 'notes', 'isEquipped'],
          },
        },
      },
    },
    run: (_, subject) => {
      const { toolsets, equipping } = context;
      const shown = toolsets.all.map((toolset) =>
        shownToolset(toVisibleToolset(toolset, context, subject), equipping.current?.name),
      );
      const lines = shown.map(
        ({ name, tools, isEquipped }) =>
          `- ${name}${isEquipped ? ' (equipped)' : ''}: ${tools.map((tool) => tool.namespacedName).join(', ')}`,
      );
      const text = shown.length === 0 ? 'No toolset is saved. build-toolset makes one.' : lines.join('\n');
      return Promise.resolve(ok({ text, structured: { toolsets: shown } }));
    },
  };
}

function shownToolset(
  { name, description, tools, toolNotes }: Toolset,
  equipped: string | undefined,
): {
  readonly name: string;
  readonly tools: readonly {
    readonly namespacedName: string;
    readonly refId?: string;
    readonly except?: readonly string[];
  }[];
  readonly isEquipped: boolean;
} {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    tools: tools.map((tool) => ({
      namespacedName: tool.namespacedName,
      ...(tool.held === undefined ? {} : { refId: tool.held.refId }),
      ...(isWhole(tool) && tool.except.length > 0 && { except: tool.except }),
    })),
    ...{ notes: toolNotes.reduce((sum, { notes }) => sum + notes.length, 0) },
    isEquipped: name === equipped,
  };
}

export function createEquipTool(context: ConfigurationContext): OwnToolSpec {
  return {
    name: 'equip-toolset',
    title: 'Equip a saved toolset',
    description:
      `Equips a saved toolset: its tools are what ${context.isEquippingShared ? 'all clients see from then on, also after a restart' : 'you see from then on; other clients keep theirs'}.` +
      (context.mode.names === undefined ? '' : ' Assay returns to normal mode.'),
    // It changes what clients see. The previous toolset stays saved, and a second call changes nothing more.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: {
      type: 'object',
      properties: { name: NAME },
      required: ['name'],
      additionalProperties: false,
    },
    output: { properties: ACTIVE },
    run: async ({ name }, subject) => {
      const { equipping, toolsetService } = context;
      const isSame = equipping.isKnown && equipping.current?.name === name;
      const equipped = isSame
        ? ok(undefined)
        : await toolsetService.equip(String(name), toModelCaller(context, subject));
      if (!equipped.ok) return equipped;
      context.mode.set('normal');
      const { text, structured } = await describeActiveToolset(context, subject);
      return ok({ text: `${text}\nList the tools again to see them.`, structured });
    },
  };
}

export function createUnequipTool(context: ConfigurationContext): OwnToolSpec {
  const { equipping, isEquippingShared, mode, toolsetService } = context;
  return {
    name: 'unequip-toolset',
    title: 'Unequip the equipped toolset',
    description:
      'Unequips the equipped toolset, which stays saved. Until another one is equipped, ' +
      (isEquippingShared ? 'clients see ' : 'you see ') +
      (mode.names === undefined ? 'all tools of all servers.' : 'no tools of servers.'),
    // The toolset stays saved, and a second call has no effect.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: NO_INPUT,
    output: { properties: { unequipped: { type: ['string', 'null'] } } },
    run: async (_, subject) => {
      const name = equipping.current?.name;
      if (name === undefined)
        return ok({ text: 'No toolset was equipped.', structured: { unequipped: null } });
      const done = await toolsetService.equip(undefined, toModelCaller(context, subject));
      if (!done.ok) return done;
      return ok({
        text: `The toolset "${name}" is not equipped any more; it stays saved.`,
        structured: { unequipped: name },
      });
    },
  };
}

export function createDeleteTool(context: ConfigurationContext): OwnToolSpec {
  return {
    name: 'delete-toolset',
    title: 'Delete a saved toolset',
    description:
      'Deletes a saved toolset with all notes on its tools, for good; one that an operator made may be protected. Needs "confirm": true. If it is equipped, it is unequipped; if others have equipped it for themselves, it is not deleted.',
    // It deletes saved work. A second call finds nothing to delete and is refused.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    inputSchema: {
      type: 'object',
      properties: {
        name: NAME,
        confirm: {
          type: 'boolean',
          description: 'Must be true: the toolset and its notes cannot be had back',
        },
      },
      required: ['name'],
      additionalProperties: false,
    },
    output: { properties: { deleted: { type: 'string' } } },
    run: async ({ name, confirm }, subject) => {
      if (confirm !== true)
        return err({
          code: 'PARAMS_INVALID',
          field: 'arguments.confirm',
          reason: 'it must be true, as the toolset and its notes cannot be had back',
        });
      const removed = await context.toolsetService.delete(String(name), toModelCaller(context, subject));
      if (!removed.ok) return removed;
      return ok({
        text: `The toolset "${String(name)}" and its notes are deleted.`,
        structured: { deleted: String(name) },
      });
    },
  };
}
