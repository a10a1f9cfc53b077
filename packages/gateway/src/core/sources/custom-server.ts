import { DEFAULT_TIMEOUT_MS, CUSTOM_SERVER, type CustomTools, type ServerSpec } from '../server-spec.ts';
import { getSourceKind } from './source-kinds.ts';

/** The server of the operator's own tools. Undefined if there are none. */
export function toCustomServerSpec({ tools, modules }: CustomTools): ServerSpec | undefined {
  if (tools.length === 0 && modules.length === 0) return undefined;
  return {
    name: CUSTOM_SERVER,
    transport: { kind: 'local', tools, modules },
    timeoutMs: DEFAULT_TIMEOUT_MS,
    prefix: false,
    isolation: 'shared',
  };
}

export interface JoinedCustomServers {
  readonly spec: ServerSpec | undefined;
  /** Names and paths that both have. Those of the second have no effect. */
  readonly shadowed: readonly string[];
}

/** Joins both. If both have a tool of the same name, or a module of the same path, the first one's wins. */
export function mergeCustomServers(
  first: ServerSpec | undefined,
  other: ServerSpec | undefined,
): JoinedCustomServers {
  const [before, after] = [getCustomTools(first), getCustomTools(other)];
  const names = new Set(before.tools.map(({ name }) => name));
  const paths = new Set(before.modules.map(({ path }) => path));
  const tools = [...before.tools, ...after.tools.filter(({ name }) => !names.has(name))];
  const modules = [...before.modules, ...after.modules.filter(({ path }) => !paths.has(path))];
  const shadowed = [
    ...after.tools.filter(({ name }) => names.has(name)).map(({ name }) => name),
    ...after.modules.filter(({ path }) => paths.has(path)).map(({ path }) => path),
  ];
  return { spec: toCustomServerSpec({ tools, modules }), shadowed };
}

/** The operator's own tools and modules. Empty if the server is of another kind. */
export function getCustomTools(spec: ServerSpec | undefined): CustomTools {
  return spec === undefined
    ? { tools: [], modules: [] }
    : getSourceKind(spec.transport).custom(spec.transport);
}
