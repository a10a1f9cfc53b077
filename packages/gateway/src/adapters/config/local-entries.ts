import { resolve } from 'node:path';
import { getNodeValue, type Node } from 'jsonc-parser';
import type { Fault } from '@assay-mcp/kit/json-position';
import type { FunctionModuleSpec, RestToolSpec } from '../../core/sources/custom-tools.ts';
import { readFunctionModule } from '../../core/sources/read-function-module.ts';
import { readRestTool } from '../../core/sources/read-rest-tool.ts';
import { type ConfigPosition, resolvePosition, type ProblemCollector } from './problem-collector.ts';
import { expandTextAt, type Entry, type EntryContext } from './entry-fields.ts';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';
import { getTreeMembers } from './json-tree.ts';

/** `tools` of a config: requests by name. Invalid ones are reported and left out. */
export function readTools(
  node: Node,
  here: EntryContext,
  collector: ProblemCollector,
): readonly RestToolSpec[] {
  return getTreeMembers(node).flatMap(({ key, value }) => {
    const position: ConfigPosition = { node: value, path: ['tools', key] };
    const entry = objectAt(position, { filled: FILLED_OF_TOOL, here, collector });
    if (entry === undefined) return [];
    const read = readRestTool(key, entry);
    if (read.ok) return [{ ...read.value, isFromConfig: true as const }];
    reportFaults(read.error, position, collector);
    return [];
  });
}

/** `functions` of a config: modules, each given by its path or as an object. */
export function readFunctions(
  node: Node,
  here: EntryContext,
  collector: ProblemCollector,
): readonly FunctionModuleSpec[] {
  const absolute = (path: string): string => resolve(here.configDir, expandHome(path, here.home));
  return (node.children ?? []).flatMap((value, index) => {
    const position: ConfigPosition = { node: value, path: ['functions', index] };
    const text =
      value.type === 'string' ? expandTextAt(entryAt(position, here, collector), position) : undefined;
    const entry =
      value.type !== 'string'
        ? objectAt(position, { filled: FILLED_OF_MODULE, here, collector })
        : text && { module: text };
    if (entry === undefined || entry === '') return [];
    const read = readFunctionModule(entry, absolute);
    if (read.ok) return [{ ...read.value, isFromConfig: true as const }];
    reportFaults(read.error, position, collector);
    return [];
  });
}

/** Members in which variables are expanded: locations and secrets. In a schema, `${…}` is literal. */
const FILLED_OF_TOOL: ReadonlySet<string> = new Set(['url', 'headers', 'auth']);
const FILLED_OF_MODULE: ReadonlySet<string> = new Set(['module', 'env', 'reads', 'writes']);

interface Reading {
  readonly filled: ReadonlySet<string>;
  readonly here: EntryContext;
  readonly collector: ProblemCollector;
}

function objectAt(
  position: ConfigPosition,
  { filled, here, collector }: Reading,
): Readonly<Record<string, unknown>> | undefined {
  if (position.node.type !== 'object') {
    collector.problem(position, 'this is not an object', 'Write it as an object in braces.');
    return undefined;
  }
  const entry = entryAt(position, here, collector);
  const before = collector.problems.length;
  const members = getTreeMembers(position.node).map(({ key, value }): readonly [string, unknown] => {
    const at: ConfigPosition = { node: value, path: [...position.path, key] };
    return [key, filled.has(key) ? filledIn(entry, at) : plain(value)];
  });
  return collector.problems.length > before ? undefined : Object.fromEntries(members);
}

/** Expands the variables in all texts. */
function filledIn(entry: Entry, { node, path }: ConfigPosition): unknown {
  if (node.type === 'string') return expandTextAt(entry, { node, path });
  if (node.type === 'array')
    return (node.children ?? []).map((one, index) => filledIn(entry, { node: one, path: [...path, index] }));
  if (node.type !== 'object') return plain(node);
  return Object.fromEntries(
    getTreeMembers(node).map(({ key, value }) => [
      key,
      filledIn(entry, { node: value, path: [...path, key] }),
    ]),
  );
}

function plain(node: Node): unknown {
  return getNodeValue(node) as unknown; // typed any by the library
}

function entryAt({ node, path }: ConfigPosition, here: EntryContext, collector: ProblemCollector): Entry {
  return { node, path: path.map(String), fields: new Map(), here, collector };
}

function reportFaults(faults: readonly Fault[], position: ConfigPosition, collector: ProblemCollector): void {
  for (const { pointer, reason } of faults) collector.problem(resolvePosition(position, pointer), reason, '');
}
