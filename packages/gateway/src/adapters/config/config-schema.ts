import type { JsonObject } from '@assay-mcp/kit/json-object';
import { getSchema } from '@assay-mcp/kit/json-reader';
import { NAME_SCHEMA } from '../../core/name-fault.ts';
import { CUSTOM_SERVER } from '../../core/server-spec.ts';
import type { SettingFacts, SettingKind } from '../../core/setting-kind.ts';
import { SETTINGS } from '../../core/settings.ts';
import { functionModuleSchema } from '../../core/sources/read-function-module.ts';
import { REST_TOOL_NAME, restToolSchema } from '../../core/sources/read-rest-tool.ts';
import { policy } from './policy-entry.ts';
import { serverSchema } from './server-entry.ts';

/**
 * The JSON Schema (draft 7, which editors support best) of the config file, made from its readers. The build writes it
 * to assay.schema.json. A value with variables is only checked once they are expanded.
 */
export function configSchema(): JsonObject {
  const servers = {
    type: 'object',
    propertyNames: { ...NAME_SCHEMA, not: { enum: [CUSTOM_SERVER] } },
    additionalProperties: { $ref: '#/definitions/server' },
  };
  const tools = {
    type: 'object',
    propertyNames: { pattern: REST_TOOL_NAME.source },
    additionalProperties: restToolSchema(),
  };
  const module = functionModuleSchema();
  const { module: path } = module['properties'] as { readonly module: JsonObject };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Config file of Assay',
    type: 'object',
    // Extensions of VS Code.
    allowComments: true,
    allowTrailingCommas: true,
    properties: {
      $schema: { description: 'where this schema is, for editors', type: 'string' },
      mcpServers: { description: 'servers by name', ...servers },
      servers: { description: 'the same, as VS Code calls it', ...servers },
      tools: { description: 'REST tools by name', ...tools },
      functions: {
        description: 'modules of functions, each as its path or as an object',
        type: 'array',
        items: { anyOf: [path, module] },
      },
      policy: { description: 'rules that allow, ask for or refuse calls', ...getSchema(policy) },
      settings: { description: 'settings by name', ...settingsSchema(Object.entries(SETTINGS)) },
      featureFlags: {
        description: 'settings that are true or false, as HyperTool calls them',
        ...settingsSchema(Object.entries(SETTINGS).filter(([, { kind }]) => kind.type === 'flag')),
      },
      inputs: { description: 'ignored; VS Code keeps its inputs there' },
    },
    additionalProperties: false,
    definitions: { server: serverSchema() },
  };
}

function settingsSchema(settings: readonly (readonly [string, SettingFacts])[]): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(
      settings.map(([key, { kind, about }]) => [
        key,
        { description: about, ...valueSchema(kind), default: kind.defaultValue },
      ]),
    ),
    additionalProperties: false,
  };
}

function valueSchema(kind: SettingKind): JsonObject {
  switch (kind.type) {
    case 'whole':
      return { type: 'integer', minimum: kind.min, maximum: kind.max };
    case 'choice':
      return { enum: kind.of };
    case 'flag':
      return { type: 'boolean' };
    case 'text':
      return { type: 'string' };
  }
}
