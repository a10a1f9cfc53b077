import { DEFAULT_TIMEOUT_MS, LOCAL_SOURCE, type CustomTools, type ServerSpec } from '../server-spec.ts';
import { sourceKind } from './source-kinds.ts';

/** The source of the tools that operators make themselves; undefined where they make none. */
export function localSpec({ tools, modules }: CustomTools): ServerSpec | undefined {
  if (tools.length === 0 && modules.length === 0) return undefined;
  return {
    name: LOCAL_SOURCE,
    transport: { kind: 'local', tools, modules },
    timeoutMs: DEFAULT_TIMEOUT_MS,
    prefix: false,
    isolation: 'shared',
  };
}

export interface JoinedLocal {
  readonly spec: ServerSpec | undefined;
  /** What another one stands before, and what by that is of no effect. */
  readonly shadowed: readonly string[];
}

/** One source of both: the first has a name, or a file. */
export function joinedLocal(first: ServerSpec | undefined, other: ServerSpec | undefined): JoinedLocal {
  const [before, after] = [customIn(first), customIn(other)];
  const names = new Set(before.tools.map(({ name }) => name));
  const paths = new Set(before.modules.map(({ path }) => path));
  const tools = [...before.tools, ...after.tools.filter(({ name }) => !names.has(name))];
  const modules = [...before.modules, ...after.modules.filter(({ path }) => !paths.has(path))];
  const shadowed = [
    ...after.tools.filter(({ name }) => names.has(name)).map(({ name }) => name),
    ...after.modules.filter(({ path }) => paths.has(path)).map(({ path }) => path),
  ];
  return { spec: localSpec({ tools, modules }), shadowed };
}

/** The tools and modules that operators wrote; none in a source of another kind. */
export function customIn(spec: ServerSpec | undefined): CustomTools {
  return spec === undefined ? { tools: [], modules: [] } : sourceKind(spec.transport).custom(spec.transport);
}
