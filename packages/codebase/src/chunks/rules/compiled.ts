import type { Node } from 'web-tree-sitter';
import type { ChunkKind } from '../../source-chunk.ts';
import {
  findChildOfType,
  describeConstant,
  createSymbolRule,
  getFieldText,
  LEAD,
  countLines,
  createNamedRule,
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
  const owner = receiver === null || receiver === undefined ? null : baseType(getFieldText(receiver, 'type'));
  return { kind: 'method', name: getFieldText(node, 'name'), owner, body: node.childForFieldName('body') };
}

const GO_KINDS: Readonly<Record<string, ChunkKind>> = { struct_type: 'struct', interface_type: 'interface' };

function goType(node: Node): Description {
  const type = node.childForFieldName('type');
  const kind = GO_KINDS[type?.type ?? ''] ?? 'type';
  return { kind, name: getFieldText(node, 'name'), body: kind === 'type' ? null : type?.namedChild(0) };
}

function goValue(node: Node): Description | undefined {
  const list = findChildOfType(node, 'var_spec_list') ?? node;
  const spec = findChildOfType(list, 'const_spec', 'var_spec');
  return spec && describeConstant(node, getFieldText(spec, 'name'), spec.childForFieldName('value'));
}

export const GO: Rules = {
  comment: LEAD,
  function_declaration: createNamedRule('function'),
  method_declaration: createSymbolRule(goMethod),
  type_declaration: WRAPPER,
  type_spec: createSymbolRule(goType),
  type_alias: createNamedRule('type'),
  const_declaration: createSymbolRule(goValue),
  var_declaration: createSymbolRule(goValue),
};

const rustValue: Rule = createSymbolRule((node) =>
  describeConstant(node, getFieldText(node, 'name'), node.childForFieldName('value')),
);

export const RUST: Rules = {
  line_comment: LEAD,
  block_comment: LEAD,
  attribute_item: LEAD,
  function_item: createNamedRule('function'),
  function_signature_item: createNamedRule('function'),
  struct_item: createNamedRule('struct'),
  union_item: createNamedRule('struct'),
  enum_item: createNamedRule('enum'),
  trait_item: createNamedRule('trait'),
  type_item: createNamedRule('type'),
  const_item: rustValue,
  static_item: rustValue,
  macro_definition: createNamedRule('function'),
  impl_item: createSymbolRule((node) => ({
    kind: 'class',
    name: baseType(getFieldText(node, 'type')),
    body: node.childForFieldName('body'),
  })),
  mod_item: SCOPE,
  foreign_mod_item: THROUGH,
  declaration_list: THROUGH,
};

export const JAVA: Rules = {
  line_comment: LEAD,
  block_comment: LEAD,
  class_declaration: createNamedRule('class'),
  record_declaration: createNamedRule('class'),
  interface_declaration: createNamedRule('interface'),
  annotation_type_declaration: createNamedRule('interface'),
  enum_declaration: createNamedRule('enum'),
  method_declaration: createNamedRule('method'),
  constructor_declaration: createNamedRule('method'),
  compact_constructor_declaration: createNamedRule('method'),
  class_body: THROUGH,
  interface_body: THROUGH,
  annotation_type_body: THROUGH,
  enum_body: THROUGH,
  enum_body_declarations: THROUGH,
};

/** A property with a body is a symbol; others stay with the fields around them. */
function csharpProperty(node: Node): Description | undefined {
  if (countLines(node) < 3) return undefined;
  const body = node.childForFieldName('accessors') ?? node.childForFieldName('value');
  return { kind: 'method', name: getFieldText(node, 'name'), body };
}

function memberCalled(name: (node: Node) => string): Rule {
  return createSymbolRule((node) => ({
    kind: 'method',
    name: name(node),
    body: node.childForFieldName('body'),
  }));
}

export const CSHARP: Rules = {
  comment: LEAD,
  namespace_declaration: SCOPE,
  class_declaration: createNamedRule('class'),
  record_declaration: createNamedRule('class'),
  struct_declaration: createNamedRule('struct'),
  interface_declaration: createNamedRule('interface'),
  enum_declaration: createNamedRule('enum'),
  delegate_declaration: createNamedRule('type'),
  method_declaration: createNamedRule('method'),
  constructor_declaration: createNamedRule('method'),
  destructor_declaration: memberCalled((node) => `~${getFieldText(node, 'name') ?? ''}`),
  operator_declaration: memberCalled((node) => `operator ${getFieldText(node, 'operator') ?? ''}`.trim()),
  indexer_declaration: createSymbolRule((node) => ({
    kind: 'method',
    name: 'this[]',
    body: node.childForFieldName('accessors') ?? node.childForFieldName('value'),
  })),
  property_declaration: createSymbolRule(csharpProperty),
  local_function_statement: createNamedRule('function'),
  global_statement: THROUGH,
  declaration_list: THROUGH,
  preproc_if: THROUGH,
  preproc_else: THROUGH,
};

/** The name in a declarator such as `*Cart<T>::find(int id) const`: `find` of `Cart`. */
function cppDeclared(node: Node): Pick<Description, 'name' | 'owner'> {
  let declarator = node;
  for (let depth = 0; depth < MAX_DECLARATORS && !declarator.type.endsWith('identifier'); depth += 1) {
    const inner = declarator.childForFieldName('declarator') ?? findChildOfType(declarator, ...DECLARED);
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
    const scope = baseType(getFieldText(name, 'scope'));
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
  return { kind, name: getFieldText(node, 'name'), body };
}

/** `struct A { … } a;`, `static const int table[] = { … };` */
function cppDeclaration(node: Node): Description | undefined {
  const specifier = cppSpecifier(node.childForFieldName('type'));
  if (specifier !== undefined) return specifier;
  const declarator = node.childForFieldName('declarator');
  if (declarator?.type !== 'init_declarator') return undefined;
  return describeConstant(node, cppDeclared(declarator).name, declarator.childForFieldName('value'));
}

function cppTypedef(node: Node): Description {
  const specifier = cppSpecifier(node.childForFieldName('type'));
  const declarator = node.childForFieldName('declarator');
  // `(*Callback)` for a pointer to a function.
  const name = /\w+/.exec(declarator === null ? '' : (cppDeclared(declarator).name ?? ''))?.[0] ?? null;
  return specifier === undefined ? { kind: 'type', name } : { ...specifier, name };
}

const cppType: Rule = createSymbolRule(cppSpecifier);

export const CPP: Rules = {
  comment: LEAD,
  // `public:` before a member.
  access_specifier: LEAD,
  function_definition: createSymbolRule(cppFunction),
  class_specifier: cppType,
  struct_specifier: cppType,
  union_specifier: cppType,
  enum_specifier: cppType,
  declaration: createSymbolRule(cppDeclaration),
  field_declaration: createSymbolRule(cppDeclaration),
  type_definition: createSymbolRule(cppTypedef),
  alias_declaration: createNamedRule('type'),
  concept_definition: createNamedRule('type'),
  preproc_function_def: createSymbolRule((node) =>
    countLines(node) < 3 ? undefined : { kind: 'function', name: getFieldText(node, 'name') },
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
