import type { Node } from 'web-tree-sitter';
import {
  childOfType,
  constant,
  described,
  fieldText,
  LARGE,
  LEAD,
  named,
  SCOPE,
  THROUGH,
  WRAPPER,
  type Description,
  type Rules,
} from './rule.ts';

export const PYTHON: Rules = {
  comment: LEAD,
  decorated_definition: WRAPPER,
  function_definition: named('function'),
  class_definition: named('class'),
  type_alias_statement: described((node) => ({ kind: 'type', name: fieldText(node, 'left') })),
  expression_statement: described((node) => {
    const inner = childOfType(node, 'assignment');
    return inner && constant(node, fieldText(inner, 'left'), inner.childForFieldName('right'));
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
  if (body !== null && childOfType(body, 'class', 'module') !== undefined) return 'scope';
  return { kind: 'module', name: fieldText(node, 'name'), body };
}

export const RUBY: Rules = {
  comment: LEAD,
  class: named('class'),
  module: described(rubyModule),
  method: named('function'),
  singleton_method: named('function'),
  assignment: described((node) => constant(node, fieldText(node, 'left'), node.childForFieldName('right'))),
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
  const inner = childOfType(node, 'assignment_expression');
  const value = inner?.childForFieldName('right') ?? null;
  if (inner === undefined || value === null) return undefined;
  const name = fieldText(inner, 'left');
  if (value.type !== 'anonymous_function' && value.type !== 'arrow_function')
    return constant(node, name, value);
  return { kind: 'function', name, body: value.childForFieldName('body') };
}

export const PHP: Rules = {
  comment: LEAD,
  namespace_definition: SCOPE,
  class_declaration: named('class'),
  interface_declaration: named('interface'),
  trait_declaration: named('trait'),
  enum_declaration: named('enum'),
  function_definition: named('function'),
  method_declaration: named('method'),
  expression_statement: described(phpAssignment),
  const_declaration: described((node) => {
    const element = childOfType(node, 'const_element');
    return element && constant(node, element.firstNamedChild?.text, element.namedChild(1));
  }),
  declaration_list: THROUGH,
  enum_declaration_list: THROUGH,
  compound_statement: THROUGH,
  if_statement: THROUGH,
  else_clause: THROUGH,
};

export const BASH: Rules = {
  comment: LEAD,
  function_definition: named('function'),
  variable_assignment: described((node) =>
    constant(node, fieldText(node, 'name'), node.childForFieldName('value')),
  ),
  if_statement: THROUGH,
  else_clause: THROUGH,
  compound_statement: THROUGH,
};
