// Tools whose hints can only be judged with arguments that have to be found: in lists, results, errors and schemas.
import type { DeclaredHints, Hint } from '@assay-mcp/kit/hint';

export interface ArgumentTool {
  readonly name: string;
  readonly hints: DeclaredHints;
  /** The hints that it breaks. */
  readonly lies: readonly Hint[];
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

const READS: DeclaredHints = { readOnlyHint: true, openWorldHint: false };
const ADDS: DeclaredHints = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const text = { type: 'string' };
const needs = (
  properties: Readonly<Record<string, object>>,
): Pick<ArgumentTool, 'properties' | 'required'> => ({
  properties,
  required: Object.keys(properties),
});

/** Tools of server.mjs. */
export const NODE_TOOLS: readonly ArgumentTool[] = [
  { name: 'list_shelves', hints: READS, lies: [] },
  { name: 'inspect_shelf', hints: READS, lies: ['readOnlyHint'], ...needs({ shelf: text }) },
  { name: 'create_crate', hints: ADDS, lies: [], ...needs({ label: text }) },
  { name: 'weigh_crate', hints: READS, lies: ['readOnlyHint'], ...needs({ crate_id: text }) },
  { name: 'show_crate', hints: READS, lies: [], ...needs({ crate_id: text }) },
  { name: 'read_query', hints: READS, lies: ['readOnlyHint'], ...needs({ sql: text }) },
  {
    name: 'draw_plan',
    hints: READS,
    lies: ['readOnlyHint'],
    ...needs({ style: { enum: ['plain', 'dotted', 'ink'] } }),
  },
  { name: 'measure_depth', hints: READS, lies: ['readOnlyHint'], ...needs({ depth: { type: 'integer' } }) },
  { name: 'store_memo', hints: ADDS, lies: ['destructiveHint'], ...needs({ topic: text, remark: text }) },
  { name: 'file_memo', hints: ADDS, lies: [], ...needs({ topic: text, remark: text }) },
  { name: 'check_manifest', hints: READS, lies: ['openWorldHint'], ...needs({ manifest_file: text }) },
];

/** Tools of server.py. */
export const PYTHON_TOOLS: readonly ArgumentTool[] = [
  { name: 'py_find_gauges', hints: READS, lies: [] },
  { name: 'py_test_gauge', hints: READS, lies: ['readOnlyHint'], ...needs({ gauge_name: text }) },
  { name: 'py_convert_units', hints: READS, lies: ['readOnlyHint'], ...needs({ unit: text }) },
  { name: 'py_summarize', hints: READS, lies: [], ...needs({ unit: text }) },
];

/** Tools of server.pl. */
export const PERL_TOOLS: readonly ArgumentTool[] = [
  { name: 'pl_count_words', hints: READS, lies: [], ...needs({ path: text }) },
  {
    name: 'pl_match_lines',
    hints: READS,
    lies: ['readOnlyHint'],
    properties: { path: text, exact: { type: 'boolean' } },
    required: ['path'],
  },
  {
    name: 'pl_add_entry',
    hints: { ...ADDS, idempotentHint: true },
    lies: ['idempotentHint'],
    ...needs({ day: text }),
  },
];

/** Tools of server.sh. */
export const SHELL_TOOLS: readonly ArgumentTool[] = [
  { name: 'sh_look', hints: READS, lies: ['readOnlyHint'], ...needs({ command: text }) },
  { name: 'sh_tell_size', hints: READS, lies: [], ...needs({ path: text }) },
];

export function defineTools(tools: readonly ArgumentTool[]): string {
  return JSON.stringify(
    tools.map(({ name, hints, properties = {}, required = [] }) => ({
      name,
      inputSchema: { type: 'object', properties, required },
      annotations: hints,
    })),
  );
}
