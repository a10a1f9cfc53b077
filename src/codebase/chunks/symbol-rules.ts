import type { Node } from 'web-tree-sitter';
import type { ChunkKind } from '../source-chunk.ts';
import type { ParsedLanguage } from './languages.ts';

/** What a node of the syntax tree means for the chunks. Nodes without a rule are not looked into. */
export type Rule =
  /** A declaration. `describe` returns undefined if this node is none after all; `name` is the field's text by default. */
  | { readonly role: 'symbol'; readonly kind: ChunkKind; readonly describe?: Describe }
  /** A namespace: only the names in it matter. */
  | { readonly role: 'scope' }
  /** Belongs to the declaration in it, such as `export` and decorators. */
  | { readonly role: 'wrapper' }
  /** May hold declarations, if it has at least so many lines. */
  | { readonly role: 'through'; readonly minLines: number }
  /** Belongs to the declaration that follows: a comment, an attribute. */
  | { readonly role: 'lead' };

export interface Description {
  readonly kind: ChunkKind;
  readonly name: string | null;
  /** A symbol that this one is a member of, though it is declared elsewhere. */
  readonly owner?: string | undefined;
  /** Where the signature ends. */
  readonly body?: Node | null;
}

export type Describe = (node: Node) => Description | undefined;

export type Rules = Readonly<Record<string, Rule>>;

const WRAPPER: Rule = { role: 'wrapper' };
const THROUGH: Rule = { role: 'through', minLines: 0 };
const LEAD: Rule = { role: 'lead' };
const SCOPE: Rule = { role: 'scope' };
/** Statements and expressions of this size may be a whole module, as in `(function () { … })()`. */
const LARGE: Rule = { role: 'through', minLines: 40 };
/** A value with fewer lines stays with the code around it. */
const CONSTANT_LINES = 3;

function symbol(kind: ChunkKind, describe?: Describe): Rule {
  return describe === undefined ? { role: 'symbol', kind } : { role: 'symbol', kind, describe };
}

function lineCount(node: Node): number {
  return node.endPosition.row - node.startPosition.row + 1;
}

function fieldText(node: Node, field: string): string | null {
  return node.childForFieldName(field)?.text ?? null;
}

const JS_FUNCTIONS = new Set(['arrow_function', 'function_expression', 'generator_function', 'function']);

/** `const x = () => …`, `const X = class …`, and values of several lines. */
function declaredValue(node: Node): Description | undefined {
  const declarator = node.namedChildren.find(({ type }) => type === 'variable_declarator');
  return (
    declarator && assigned(declarator.childForFieldName('name'), declarator.childForFieldName('value'), node)
  );
}

function assigned(target: Node | null, value: Node | null, whole: Node): Description | undefined {
  if (target === null || value === null) return undefined;
  const { name, owner } = targetName(target);
  const body = value.childForFieldName('body');
  if (JS_FUNCTIONS.has(value.type)) return { kind: 'function', name, owner, body };
  if (value.type === 'class') return { kind: 'class', name, owner, body };
  return lineCount(whole) < CONSTANT_LINES ? undefined : { kind: 'constant', name, owner, body: value };
}

/** `exports.x` is `x`; `Parser.prototype.x` is `x` of `Parser`. */
function targetName(target: Node): { name: string | null; owner?: string } {
  if (target.type !== 'member_expression') return { name: target.text.slice(0, 200) };
  const name = fieldText(target, 'property');
  const owner = (fieldText(target, 'object') ?? '').replace(/[.]prototype$/, '');
  const isOwner =
    /^[\w$.]+$/.test(owner) && !/^(?:this|module|exports|module[.]exports|window|globalThis)$/.test(owner);
  return isOwner ? { name, owner } : { name: name === 'exports' ? 'module.exports' : name };
}

function assignment(node: Node): Description | undefined {
  const inner = node.firstNamedChild;
  return inner?.type === 'assignment_expression'
    ? assigned(inner.childForFieldName('left'), inner.childForFieldName('right'), node)
    : undefined;
}

function memberValue(node: Node): Description | undefined {
  const value = node.childForFieldName('value');
  if (value === null || !JS_FUNCTIONS.has(value.type)) return undefined;
  const name = fieldText(node, 'name') ?? fieldText(node, 'property') ?? fieldText(node, 'key');
  return { kind: 'method', name, body: value.childForFieldName('body') };
}

function defaultExport(node: Node): Description {
  return {
    kind: 'function',
    name: fieldText(node, 'name') ?? 'default',
    body: node.childForFieldName('body'),
  };
}

const ECMASCRIPT: Rules = {
  comment: LEAD,
  decorator: LEAD,
  export_statement: WRAPPER,
  ambient_declaration: WRAPPER,
  class_declaration: symbol('class'),
  class: symbol('class'),
  abstract_class_declaration: symbol('class'),
  function_declaration: symbol('function'),
  generator_function_declaration: symbol('function'),
  function_signature: symbol('function'),
  function_expression: symbol('function', defaultExport),
  arrow_function: symbol('function', defaultExport),
  method_definition: symbol('method'),
  abstract_method_signature: symbol('method'),
  public_field_definition: symbol('method', memberValue),
  field_definition: symbol('method', memberValue),
  pair: symbol('method', memberValue),
  interface_declaration: symbol('interface'),
  type_alias_declaration: symbol('type'),
  enum_declaration: symbol('enum'),
  lexical_declaration: symbol('constant', declaredValue),
  variable_declaration: symbol('constant', declaredValue),
  expression_statement: symbol('constant', assignment),
  internal_module: SCOPE,
  module: SCOPE,
  class_body: THROUGH,
  statement_block: THROUGH,
  if_statement: THROUGH,
  else_clause: THROUGH,
  try_statement: THROUGH,
  assignment_expression: LARGE,
  variable_declarator: LARGE,
  call_expression: LARGE,
  unary_expression: LARGE,
  parenthesized_expression: LARGE,
  arguments: LARGE,
  object: LARGE,
  return_statement: LARGE,
};

function pythonConstant(node: Node): Description | undefined {
  const inner = node.firstNamedChild;
  if (inner?.type !== 'assignment' || lineCount(node) < CONSTANT_LINES) return undefined;
  return { kind: 'constant', name: fieldText(inner, 'left'), body: inner.childForFieldName('right') };
}

const PYTHON: Rules = {
  comment: LEAD,
  decorated_definition: WRAPPER,
  function_definition: symbol('function'),
  class_definition: symbol('class'),
  type_alias_statement: symbol('type', (node) => ({ kind: 'type', name: fieldText(node, 'left') })),
  expression_statement: symbol('constant', pythonConstant),
  block: THROUGH,
  if_statement: THROUGH,
  elif_clause: THROUGH,
  else_clause: THROUGH,
  try_statement: THROUGH,
  except_clause: THROUGH,
  finally_clause: THROUGH,
  with_statement: THROUGH,
};

export const RULES: Readonly<Record<ParsedLanguage, Rules>> = {
  bash: {},
  c: {},
  cpp: {},
  csharp: {},
  go: {},
  java: {},
  javascript: ECMASCRIPT,
  php: {},
  python: PYTHON,
  ruby: {},
  rust: {},
  tsx: ECMASCRIPT,
  typescript: ECMASCRIPT,
};

/** What a symbol is called, and where its signature ends. */
export function describe(node: Node, rule: Extract<Rule, { role: 'symbol' }>): Description | undefined {
  if (rule.describe !== undefined) return rule.describe(node);
  return { kind: rule.kind, name: fieldText(node, 'name'), body: node.childForFieldName('body') };
}
