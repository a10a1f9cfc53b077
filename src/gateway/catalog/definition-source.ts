import { aspectsOf, type Aspects, type DefinitionSource } from '../../core/hints/aspects.ts';
import { type ClaimSource, functionModuleIdOf, restToolIdOf } from '../../core/hints/hint.ts';
import { isBuiltIn, LOCAL_SOURCE, type BuiltInTransport, type ServerSpec } from '../../core/server-spec.ts';
import type { FunctionModuleSpec } from '../../core/sources/function-module.ts';
import { markOf } from '../../core/hints/made-facts.ts';
import type { RestToolSpec } from '../../core/sources/rest-tool.ts';
import { declaredOf } from './definition-facts.ts';
import type { Definition } from '../ports/link.ts';
import type { LocalKind } from '../ports/words.ts';

/** How definitions of a server are read when they are compared. */
export function definitionSourceOf({ transport }: ServerSpec): DefinitionSource {
  return {
    isMade: isBuiltIn(transport),
    isTargetChosen: transport.kind === 'openapi' && transport.baseUrl !== undefined,
  };
}

const ASPECTS = new WeakMap<Definition, { readonly spec: ServerSpec; readonly aspects: Aspects }>();

/** What a definition of a server says, as digests; made once. */
export function aspectsIn(spec: ServerSpec, definition: Definition): Aspects {
  const known = ASPECTS.get(definition);
  if (known?.spec === spec) return known.aspects;
  const aspects = aspectsOf(definition.bytes.toString(), definitionSourceOf(spec));
  ASPECTS.set(definition, { spec, aspects });
  return aspects;
}

type Local = Extract<BuiltInTransport, { readonly kind: 'local' }>;

const REST_TOOLS = new WeakMap<Local, ReadonlyMap<string, RestToolSpec>>();

/** The REST tool that a definition was made of; undefined where it is of anything else. */
export function restToolOf(
  { transport }: ServerSpec,
  { key }: Pick<Definition, 'key'>,
): RestToolSpec | undefined {
  if (transport.kind !== 'local' || key === undefined) return undefined;
  const known = REST_TOOLS.get(transport);
  const tools = known ?? new Map(transport.tools.map((tool) => [tool.name, tool]));
  if (known === undefined) REST_TOOLS.set(transport, tools);
  return tools.get(key);
}

/** Who declares the hints of a definition. */
export interface Declarer {
  readonly source: ClaimSource;
  readonly origin: string;
}

export function declarerOf(spec: ServerSpec, definition: Definition): Declarer {
  const { transport, name } = spec;
  if (transport.kind === 'openapi') return { source: 'document', origin: name };
  if (transport.kind !== 'local') return { source: 'server', origin: name };
  const rest = restToolOf(spec, definition);
  if (rest !== undefined)
    return rest.author === undefined
      ? { source: 'config_file', origin: 'config file' }
      : { source: 'operator', origin: rest.author };
  return { source: 'module', origin: moduleOf(transport, definition)?.path ?? LOCAL_SOURCE };
}

function moduleOf({ modules }: Local, definition: Definition): FunctionModuleSpec | undefined {
  const mark = declaredOf(definition).module;
  return modules.find(({ path }) => markOf(path) === mark);
}

/** The record of the store without which there is no such tool; undefined where something else has it. */
export function recordOf(
  spec: ServerSpec,
  definition: Definition,
): { readonly kind: LocalKind; readonly id: string } | undefined {
  const rest = restToolOf(spec, definition);
  if (rest !== undefined)
    return rest.author === undefined ? undefined : { kind: 'rest-tool', id: restToolIdOf(rest.name) };
  const module = spec.transport.kind === 'local' ? moduleOf(spec.transport, definition) : undefined;
  if (module === undefined || module.isFromConfig === true) return undefined;
  return { kind: 'function-module', id: functionModuleIdOf(module.path) };
}

/** A document that an operator has at hand is his own; what stands at a URL was written by somebody else. */
export function isOwnSource({ transport }: ServerSpec): boolean {
  return transport.kind === 'local' || (transport.kind === 'openapi' && !URL.canParse(transport.document));
}
