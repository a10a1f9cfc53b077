import { computeAspects, type Aspects, type DefinitionSource } from '../../core/hints/aspects.ts';
import type { ClaimSource } from '../../core/hints/claim.ts';
import { computeModuleId, computeRestToolId } from '../../core/record-ids.ts';
import type { ServerSpec, Transport } from '../../core/server-spec.ts';
import type { FunctionModuleSpec, RestToolSpec } from '../../core/sources/custom-tools.ts';
import { computeMark } from '@assay-mcp/kit/digest';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import { getDeclaredText } from './definition-facts.ts';
import type { Definition } from '../ports/link.ts';
import type { RecordKey } from '../ports/records.ts';

/** How a server's definitions are read for comparison. */
export function getDefinitionSource({ transport }: ServerSpec): DefinitionSource {
  const kind = getSourceKind(transport);
  return { isMade: kind.isBuiltIn, isTargetChosen: kind.isTargetChosen(transport) };
}

const ASPECTS = new WeakMap<Definition, { readonly spec: ServerSpec; readonly aspects: Aspects }>();

/** Digests of each aspect of a server's definition. Cached. */
export function getAspects(spec: ServerSpec, definition: Definition): Aspects {
  const known = ASPECTS.get(definition);
  if (known?.spec === spec) return known.aspects;
  const aspects = computeAspects(getDeclaredText(definition), getDefinitionSource(spec));
  ASPECTS.set(definition, { spec, aspects });
  return aspects;
}

const REST_TOOLS = new WeakMap<Transport, ReadonlyMap<string, RestToolSpec>>();

/** The REST tool that a definition was made from; undefined for any other tool. */
export function findRestTool(
  { transport }: ServerSpec,
  { key }: Pick<Definition, 'key'>,
): RestToolSpec | undefined {
  if (key === undefined) return undefined;
  let tools = REST_TOOLS.get(transport);
  if (tools === undefined) {
    tools = new Map(
      getSourceKind(transport)
        .custom(transport)
        .tools.map((tool) => [tool.name, tool]),
    );
    REST_TOOLS.set(transport, tools);
  }
  return tools.get(key);
}

/** The party that declares the hints of a definition. */
export interface Declarer {
  readonly source: ClaimSource;
  readonly origin: string;
}

export function getDeclarer(spec: ServerSpec, definition: Definition): Declarer {
  const rest = findRestTool(spec, definition);
  if (rest !== undefined)
    return rest.author === undefined
      ? { source: 'config_file', origin: 'config file' }
      : { source: 'operator', origin: rest.author };
  const module = moduleOf(spec, definition);
  return { source: getSourceKind(spec.transport).declaredBy, origin: module?.path ?? spec.name };
}

function moduleOf({ transport }: ServerSpec, { facts }: Definition): FunctionModuleSpec | undefined {
  const mark = facts?.module;
  if (mark === undefined) return undefined;
  return getSourceKind(transport)
    .custom(transport)
    .modules.find(({ path }) => computeMark(path) === mark);
}

/** The stored record that defines the tool. Undefined if it is defined elsewhere. */
export function findRecordKey(
  spec: ServerSpec,
  definition: Definition,
): RecordKey<'rest_tool' | 'function_module'> | undefined {
  const rest = findRestTool(spec, definition);
  if (rest !== undefined)
    return rest.author === undefined ? undefined : { kind: 'rest_tool', id: computeRestToolId(rest.name) };
  const module = moduleOf(spec, definition);
  if (module === undefined || module.isFromConfig === true) return undefined;
  return { kind: 'function_module', id: computeModuleId(module.path) };
}
