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

export const PYTHON: Rules = {
  comment: LEAD,
  decorated_definition: WRAPPER,
  function_definition: createNamedRule('function'),
  class_definition: createNamedRule('class'),
  type_alias_statement: createSymbolRule((node) => ({ kind: 'type', name: getFieldText(node, 'left') })),
  expression_statement: createSymbolRule((node) => {
    const inner = findChildOfType(node, 'assignment');
    return inner && describeConstant(node, getFieldText(inner, 'left'), inner.childForFieldName('right'));
  }),
  block: THROUGH,
  if_statement: THROUGH,
  elif_clause: THROUGH,
  else_clause: THROUGH,
  try_statement: THROUGH,
  except_clause: THROUGH,
  finally_clause: THROUGH,
  with_statement: THROUGH,
};

/** A module of classes is a namespace; one of methods is used like a class. */
function rubyModule(node: Node): Description | 'scope' {
  const body = node.childForFieldName('body');
  if (body !== null && findChildOfType(body, 'class', 'module') !== undefined) return 'scope';
  return { kind: 'module', name: getFieldText(node, 'name'), body };
}

export const RUBY: Rules = {
  comment: LEAD,
  class: createNamedRule('class'),
  module: createSymbolRule(rubyModule),
  method: createNamedRule('function'),
  singleton_method: createNamedRule('function'),
  assignment: createSymbolRule((node) =>
    describeConstant(node, getFieldText(node, 'left'), node.childForFieldName('right')),
  ),
  singleton_class: THROUGH,
  body_statement: THROUGH,
  // `private def …`, and blocks that contain a whole file.
  call: { role: 'through', minLines: 2 },
  argument_list: THROUGH,
  do_block: LARGE,
  block: LARGE,
  if: THROUGH,
  unless: THROUGH,
  then: THROUGH,
};

function phpAssignment(node: Node): Description | undefined {
  const inner = findChildOfType(node, 'assignment_expression');
  const value = inner?.childForFieldName('right') ?? null;
  if (inner === undefined || value === null) return undefined;
  const name = getFieldText(inner, 'left');
  if (value.type !== 'anonymous_function' && value.type !== 'arrow_function')
    return describeConstant(node, name, value);
  return { kind: 'function', name, body: value.childForFieldName('body') };
}

export const PHP: Rules = {
  comment: LEAD,
  namespace_definition: SCOPE,
  class_declaration: createNamedRule('class'),
  interface_declaration: createNamedRule('interface'),
  trait_declaration: createNamedRule('trait'),
  enum_declaration: createNamedRule('enum'),
  function_definition: createNamedRule('function'),
  method_declaration: createNamedRule('method'),
  expression_statement: createSymbolRule(phpAssignment),
  const_declaration: createSymbolRule((node) => {
    const element = findChildOfType(node, 'const_element');
    return element && describeConstant(node, element.firstNamedChild?.text, element.namedChild(1));
  }),
  declaration_list: THROUGH,
  enum_declaration_list: THROUGH,
  compound_statement: THROUGH,
  if_statement: THROUGH,
  else_clause: THROUGH,
};

export const BASH: Rules = {
  comment: LEAD,
  function_definition: createNamedRule('function'),
  variable_assignment: createSymbolRule((node) =>
    describeConstant(node, getFieldText(node, 'name'), node.childForFieldName('value')),
  ),
  if_statement: THROUGH,
  else_clause: THROUGH,
  compound_statement: THROUGH,
};
