import type { Node } from 'web-tree-sitter';
import type { ChunkKind } from '../../source-chunk.ts';
import {
  childOfType,
  constant,
  described,
  fieldText,
  LEAD,
  lineCount,
  named,
  SCOPE,
  THROUGH,
  WRAPPER,
  type Description,
  type Rule,
  type Rules,
} from './rule.ts';

/** `Cart` of `*shop.Cart[T]`, `&Cart<T>`, `impl Cart<T>`. */
function baseType(type: string | null): string | null {
  return /^[&*\s]*(?:[\w:.]*[:.])?(\w+)/.exec(type ?? '')?.[1] ?? null;
}

function goMethod(node: Node): Description {
  const receiver = node.childForFieldName('receiver')?.firstNamedChild;
  const owner = receiver === null || receiver === undefined ? null : baseType(fieldText(receiver, 'type'));
  return { kind: 'method', name: fieldText(node, 'name'), owner, body: node.childForFieldName('body') };
}

const GO_KINDS: Readonly<Record<string, ChunkKind>> = { struct_type: 'struct', interface_type: 'interface' };

function goType(node: Node): Description {
  const type = node.childForFieldName('type');
  const kind = GO_KINDS[type?.type ?? ''] ?? 'type';
  return { kind, name: fieldText(node, 'name'), body: kind === 'type' ? null : type?.namedChild(0) };
}

function goValue(node: Node): Description | undefined {
  const list = childOfType(node, 'var_spec_list') ?? node;
  const spec = childOfType(list, 'const_spec', 'var_spec');
  return spec && constant(node, fieldText(spec, 'name'), spec.childForFieldName('value'));
}

export const GO: Rules = {
  comment: LEAD,
  function_declaration: named('function'),
  method_declaration: described(goMethod),
  type_declaration: WRAPPER,
  type_spec: described(goType),
  type_alias: named('type'),
  const_declaration: described(goValue),
  var_declaration: described(goValue),
};

const rustValue: Rule = described((node) =>
  constant(node, fieldText(node, 'name'), node.childForFieldName('value')),
);

export const RUST: Rules = {
  line_comment: LEAD,
  block_comment: LEAD,
  attribute_item: LEAD,
  function_item: named('function'),
  function_signature_item: named('function'),
  struct_item: named('struct'),
  union_item: named('struct'),
  enum_item: named('enum'),
  trait_item: named('trait'),
  type_item: named('type'),
  const_item: rustValue,
  static_item: rustValue,
  macro_definition: named('function'),
  impl_item: described((node) => ({
    kind: 'class',
    name: baseType(fieldText(node, 'type')),
    body: node.childForFieldName('body'),
  })),
  mod_item: SCOPE,
  foreign_mod_item: THROUGH,
  declaration_list: THROUGH,
};

export const JAVA: Rules = {
  line_comment: LEAD,
  block_comment: LEAD,
  class_declaration: named('class'),
  record_declaration: named('class'),
  interface_declaration: named('interface'),
  annotation_type_declaration: named('interface'),
  enum_declaration: named('enum'),
  method_declaration: named('method'),
  constructor_declaration: named('method'),
  compact_constructor_declaration: named('method'),
  class_body: THROUGH,
  interface_body: THROUGH,
  annotation_type_body: THROUGH,
  enum_body: THROUGH,
  enum_body_declarations: THROUGH,
};

/** A property with a body is a symbol; others stay with the fields around them. */
function csharpProperty(node: Node): Description | undefined {
  if (lineCount(node) < 3) return undefined;
  const body = node.childForFieldName('accessors') ?? node.childForFieldName('value');
  return { kind: 'method', name: fieldText(node, 'name'), body };
}

function memberCalled(name: (node: Node) => string): Rule {
  return described((node) => ({ kind: 'method', name: name(node), body: node.childForFieldName('body') }));
}

export const CSHARP: Rules = {
  comment: LEAD,
  namespace_declaration: SCOPE,
  class_declaration: named('class'),
  record_declaration: named('class'),
  struct_declaration: named('struct'),
  interface_declaration: named('interface'),
  enum_declaration: named('enum'),
  delegate_declaration: named('type'),
  method_declaration: named('method'),
  constructor_declaration: named('method'),
  destructor_declaration: memberCalled((node) => `~${fieldText(node, 'name') ?? ''}`),
  operator_declaration: memberCalled((node) => `operator ${fieldText(node, 'operator') ?? ''}`.trim()),
  indexer_declaration: described((node) => ({
    kind: 'method',
    name: 'this[]',
    body: node.childForFieldName('accessors') ?? node.childForFieldName('value'),
  })),
  property_declaration: described(csharpProperty),
  local_function_statement: named('function'),
  global_statement: THROUGH,
  declaration_list: THROUGH,
  preproc_if: THROUGH,
  preproc_else: THROUGH,
};

/** The name in a declarator such as `*Cart<T>::find(int id) const`: `find` of `Cart`. */
function cppDeclared(node: Node): Pick<Description, 'name' | 'owner'> {
  let declarator = node;
  for (let depth = 0; depth < MAX_DECLARATORS && !declarator.type.endsWith('identifier'); depth += 1) {
    const inner = declarator.childForFieldName('declarator') ?? childOfType(declarator, ...DECLARED);
    if (inner === undefined) break;
    declarator = inner;
  }
  if (declarator.type === 'qualified_identifier') return cppQualified(declarator);
  return { name: declarator.text.replace(/\s+/g, ' ') };
}

/** For declarators that have no `declarator` field, such as a reference. */
const DECLARED = ['function_declarator', 'identifier', 'qualified_identifier', 'operator_name'];
const MAX_DECLARATORS = 16;

function cppQualified(node: Node): Pick<Description, 'name' | 'owner'> {
  const owners: string[] = [];
  let name: Node = node;
  for (let depth = 0; name.type === 'qualified_identifier' && depth < MAX_DECLARATORS; depth += 1) {
    const scope = baseType(fieldText(name, 'scope'));
    if (scope !== null) owners.push(scope);
    const inner = name.childForFieldName('name');
    if (inner === null) break;
    name = inner;
  }
  return { name: name.text.replace(/\s+/g, ' '), owner: owners.length === 0 ? null : owners.join('.') };
}

function cppFunction(node: Node): Description {
  return { kind: 'function', ...cppDeclared(node), body: node.childForFieldName('body') };
}

const CPP_KINDS: Readonly<Record<string, ChunkKind>> = {
  class_specifier: 'class',
  struct_specifier: 'struct',
  union_specifier: 'struct',
  enum_specifier: 'enum',
};

/** Undefined for a type that is only declared or used. */
function cppSpecifier(node: Node | null): Description | undefined {
  const kind = node === null ? undefined : CPP_KINDS[node.type];
  const body = node?.childForFieldName('body') ?? null;
  if (node === null || kind === undefined || body === null) return undefined;
  return { kind, name: fieldText(node, 'name'), body };
}

/** `struct A { … } a;`, `static const int table[] = { … };` */
function cppDeclaration(node: Node): Description | undefined {
  const specifier = cppSpecifier(node.childForFieldName('type'));
  if (specifier !== undefined) return specifier;
  const declarator = node.childForFieldName('declarator');
  if (declarator?.type !== 'init_declarator') return undefined;
  return constant(node, cppDeclared(declarator).name, declarator.childForFieldName('value'));
}

function cppTypedef(node: Node): Description {
  const specifier = cppSpecifier(node.childForFieldName('type'));
  const declarator = node.childForFieldName('declarator');
  // `(*Callback)` for a pointer to a function.
  const name = /\w+/.exec(declarator === null ? '' : (cppDeclared(declarator).name ?? ''))?.[0] ?? null;
  return specifier === undefined ? { kind: 'type', name } : { ...specifier, name };
}

const cppType: Rule = described(cppSpecifier);

export const CPP: Rules = {
  comment: LEAD,
  // `public:` before a member.
  access_specifier: LEAD,
  function_definition: described(cppFunction),
  class_specifier: cppType,
  struct_specifier: cppType,
  union_specifier: cppType,
  enum_specifier: cppType,
  declaration: described(cppDeclaration),
  field_declaration: described(cppDeclaration),
  type_definition: described(cppTypedef),
  alias_declaration: named('type'),
  concept_definition: named('type'),
  preproc_function_def: described((node) =>
    lineCount(node) < 3 ? undefined : { kind: 'function', name: fieldText(node, 'name') },
  ),
  template_declaration: WRAPPER,
  namespace_definition: SCOPE,
  linkage_specification: THROUGH,
  declaration_list: THROUGH,
  field_declaration_list: THROUGH,
  preproc_if: THROUGH,
  preproc_ifdef: THROUGH,
  preproc_else: THROUGH,
  preproc_elif: THROUGH,
};
