import type { Node } from 'web-tree-sitter';
import {
  findChildOfType,
  describeConstant,
  createSymbolRule,
  getFieldText,
  LARGE,
  LEAD,
  createNamedRule,
  SCOPE,
  THROUGH,
  WRAPPER,
  type Description,
  type Rules,
} from './rule.ts';

const JS_FUNCTIONS = new Set(['arrow_function', 'function_expression', 'generator_function', 'function']);

/** `const x = () => …`, `const X = class …`, and values of several lines. */
function declaredValue(node: Node): Description | undefined {
  const declarator = findChildOfType(node, 'variable_declarator');
  return (
    declarator && assigned(declarator.childForFieldName('name'), declarator.childForFieldName('value'), node)
  );
}

function assigned(target: Node | null, value: Node | null, whole: Node): Description | undefined {
  if (target === null || value === null) return undefined;
  const { name, owner } = targetName(target, value);
  const callable = functionIn(value);
  const body = (callable ?? value).childForFieldName('body');
  if (callable !== undefined) return { kind: 'function', name, owner, body };
  if (value.type === 'class') return { kind: 'class', name, owner, body };
  const large = describeConstant(whole, name, value);
  return large && { ...large, owner: owner ?? large.owner };
}

/** The function in a value: the value itself, or an argument of a call, as in `memo(function () { … })`. */
function functionIn(value: Node): Node | undefined {
  if (JS_FUNCTIONS.has(value.type)) return value;
  const passed = value.type === 'call_expression' ? value.childForFieldName('arguments') : null;
  return passed === null ? undefined : findChildOfType(passed, ...JS_FUNCTIONS);
}

/** `exports.x` is `x`; `Parser.prototype.x` is `x` of `Parser`. */
function targetName(target: Node, value: Node): { name: string | null; owner?: string } {
  if (target.type !== 'member_expression') return { name: target.text.slice(0, 200) };
  const name = getFieldText(target, 'property');
  const owner = (getFieldText(target, 'object') ?? '').replace(/[.]prototype$/, '');
  const isOwner =
    /^[\w$.]+$/.test(owner) && !/^(?:this|module|exports|module[.]exports|window|globalThis)$/.test(owner);
  return isOwner
    ? { name, owner }
    : { name: name === 'exports' ? (getFieldText(value, 'name') ?? 'module.exports') : name };
}

function statement(node: Node): Description | 'through' | undefined {
  const inner = node.firstNamedChild;
  // TypeScript's grammar parses `namespace N {}` as this.
  if (inner?.type === 'internal_module') return 'through';
  return inner?.type === 'assignment_expression'
    ? assigned(inner.childForFieldName('left'), inner.childForFieldName('right'), node)
    : undefined;
}

function memberValue(node: Node): Description | undefined {
  const value = node.childForFieldName('value');
  if (value === null || !JS_FUNCTIONS.has(value.type)) return undefined;
  const name = getFieldText(node, 'name') ?? getFieldText(node, 'property') ?? getFieldText(node, 'key');
  return { kind: 'method', name: name && unquoted(name), body: value.childForFieldName('body') };
}

/** `'on-change': () => …` is found by `on-change`. */
function unquoted(name: string): string {
  return /^(['"])([^'"\\]+)\1$/.exec(name)?.[2] ?? name;
}

function defaultExport(node: Node): Description {
  return {
    kind: 'function',
    name: getFieldText(node, 'name') ?? 'default',
    body: node.childForFieldName('body'),
  };
}

export const ECMASCRIPT: Rules = {
  comment: LEAD,
  decorator: LEAD,
  export_statement: WRAPPER,
  ambient_declaration: WRAPPER,
  class_declaration: createNamedRule('class'),
  class: createNamedRule('class'),
  abstract_class_declaration: createNamedRule('class'),
  function_declaration: createNamedRule('function'),
  generator_function_declaration: createNamedRule('function'),
  function_signature: createNamedRule('function'),
  function_expression: createSymbolRule(defaultExport),
  arrow_function: createSymbolRule(defaultExport),
  method_definition: createNamedRule('method'),
  abstract_method_signature: createNamedRule('method'),
  public_field_definition: createSymbolRule(memberValue),
  field_definition: createSymbolRule(memberValue),
  pair: createSymbolRule(memberValue),
  interface_declaration: createNamedRule('interface'),
  type_alias_declaration: createNamedRule('type'),
  enum_declaration: createNamedRule('enum'),
  lexical_declaration: createSymbolRule(declaredValue),
  variable_declaration: createSymbolRule(declaredValue),
  expression_statement: createSymbolRule(statement),
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
