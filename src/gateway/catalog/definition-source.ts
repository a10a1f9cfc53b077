import { aspectsOf, type Aspects, type DefinitionSource } from '../../core/hints/aspects.ts';
import type { ClaimSource } from '../../core/hints/hint.ts';
import { functionModuleIdOf, restToolIdOf } from '../../core/record-ids.ts';
import type { ServerSpec, Transport } from '../../core/server-spec.ts';
import type { FunctionModuleSpec, RestToolSpec } from '../../core/sources/custom-tools.ts';
import { markOf } from '../../core/digest.ts';
import { sourceKind } from '../../core/sources/source-kinds.ts';
import { declaredTextOf } from './definition-facts.ts';
import type { Definition } from '../ports/link.ts';
import type { RecordKey } from '../ports/records.ts';

/** How a server's definitions are read for comparison. */
export function definitionSourceOf({ transport }: ServerSpec): DefinitionSource {
  const kind = sourceKind(transport);
  return { isMade: kind.isBuiltIn, isTargetChosen: kind.isTargetChosen(transport) };
}

const ASPECTS = new WeakMap<Definition, { readonly spec: ServerSpec; readonly aspects: Aspects }>();

/** Digests of each aspect of a server's definition. Cached. */
export function aspectsIn(spec: ServerSpec, definition: Definition): Aspects {
  const known = ASPECTS.get(definition);
  if (known?.spec === spec) return known.aspects;
  const aspects = aspectsOf(declaredTextOf(definition), definitionSourceOf(spec));
  ASPECTS.set(definition, { spec, aspects });
  return aspects;
}

const REST_TOOLS = new WeakMap<Transport, ReadonlyMap<string, RestToolSpec>>();

/** The REST tool that a definition was made from; undefined for any other tool. */
export function restToolOf(
  { transport }: ServerSpec,
  { key }: Pick<Definition, 'key'>,
): RestToolSpec | undefined {
  if (key === undefined) return undefined;
  let tools = REST_TOOLS.get(transport);
  if (tools === undefined) {
    tools = new Map(
      sourceKind(transport)
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

export function declarerOf(spec: ServerSpec, definition: Definition): Declarer {
  const rest = restToolOf(spec, definition);
  if (rest !== undefined)
    return rest.author === undefined
      ? { source: 'config_file', origin: 'config file' }
      : { source: 'operator', origin: rest.author };
  const module = moduleOf(spec, definition);
  return { source: sourceKind(spec.transport).declaredBy, origin: module?.path ?? spec.name };
}

function moduleOf({ transport }: ServerSpec, { facts }: Definition): FunctionModuleSpec | undefined {
  const mark = facts?.module;
  if (mark === undefined) return undefined;
  return sourceKind(transport)
    .custom(transport)
    .modules.find(({ path }) => markOf(path) === mark);
}

/** The stored record that defines the tool. Undefined if it is defined elsewhere. */
export function recordOf(
  spec: ServerSpec,
  definition: Definition,
): RecordKey<'rest_tool' | 'function_module'> | undefined {
  const rest = restToolOf(spec, definition);
  if (rest !== undefined)
    return rest.author === undefined ? undefined : { kind: 'rest_tool', id: restToolIdOf(rest.name) };
  const module = moduleOf(spec, definition);
  if (module === undefined || module.isFromConfig === true) return undefined;
  return { kind: 'function_module', id: functionModuleIdOf(module.path) };
}
