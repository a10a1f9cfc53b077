import type { Node } from 'web-tree-sitter';
import { RULES } from '../chunks/chunk-source.ts';
import type { ParsedLanguage } from '../chunks/languages.ts';
import {
  createNamedRule,
  createSymbolRule,
  findChildOfType,
  getFieldText,
  THROUGH,
  type Describe,
  type Rule,
  type Rules,
} from '../chunks/rules/rule.ts';

/** What the rules of the index describe, or else a constant on one line, which is no chunk of its own. */
function orConstant(rule: Rule | undefined, nameOf: (node: Node) => string | null | undefined): Rule {
  const describe: Describe = (node) => {
    const described = rule?.role === 'symbol' ? rule.describe(node) : undefined;
    if (described !== undefined) return described;
    const name = nameOf(node) ?? '';
    return /^[\p{L}_$@][\p{L}\p{M}\p{N}_$]*$/u.test(name) ? { kind: 'constant', name } : undefined;
  };
  return createSymbolRule(describe);
}

/** A variable in a function is no symbol of the file. */
function isIn(node: Node, ...types: readonly string[]): boolean {
  return types.includes(node.parent?.type ?? '');
}

function ecmascriptName(node: Node): string | null {
  if (!isIn(node, 'program', 'export_statement', 'ambient_declaration', 'statement_block')) return null;
  if (isIn(node, 'statement_block') && node.parent?.parent?.type !== 'internal_module') return null;
  const declarator = findChildOfType(node, 'variable_declarator');
  return declarator === undefined ? null : getFieldText(declarator, 'name');
}

function pythonName(node: Node): string | null {
  const isTop = isIn(node, 'module') || node.parent?.parent?.type === 'class_definition';
  const assignment = isTop ? findChildOfType(node, 'assignment') : undefined;
  return assignment === undefined ? null : getFieldText(assignment, 'left');
}

function javaName(node: Node): string | null {
  const isConstant = /\bstatic\b[^=]*\bfinal\b|\bfinal\b[^=]*\bstatic\b/.test(node.text.slice(0, 200));
  const declarator = node.childForFieldName('declarator');
  return isConstant && declarator !== null ? getFieldText(declarator, 'name') : null;
}

/** `int uv_loop_init(uv_loop_t* loop);`, as in headers. */
const prototype: Describe = (node) => {
  const described = RULES.cpp['declaration'];
  const found = described?.role === 'symbol' ? described.describe(node) : undefined;
  if (found !== undefined) return found;
  let declarator = node.childForFieldName('declarator');
  for (let depth = 0; depth < MAX_DECLARATORS && declarator !== null; depth += 1) {
    if (declarator.type === 'function_declarator') break;
    declarator = declarator.childForFieldName('declarator');
  }
  const name = declarator === null ? null : getFieldText(declarator, 'declarator');
  return name !== null && /^\w+$/.test(name) ? { kind: 'function', name } : undefined;
};

const MAX_DECLARATORS = 8;

const ECMASCRIPT: Rules = {
  lexical_declaration: orConstant(RULES.typescript['lexical_declaration'], ecmascriptName),
  variable_declaration: orConstant(RULES.typescript['variable_declaration'], ecmascriptName),
  interface_body: THROUGH,
  method_signature: createNamedRule('method'),
};

const CPP: Rules = {
  declaration: createSymbolRule(prototype),
  preproc_function_def: orConstant(RULES.cpp['preproc_function_def'], (node) => getFieldText(node, 'name')),
  // Without a value it is a guard or a switch.
  preproc_def: orConstant(undefined, (node) =>
    node.childForFieldName('value') === null ? null : getFieldText(node, 'name'),
  ),
};

const constantByName: (language: ParsedLanguage, type: string) => Rule = (language, type) =>
  orConstant(RULES[language][type], (node) => getFieldText(node, 'name'));

const MORE: Readonly<Partial<Record<ParsedLanguage, Rules>>> = {
  c: CPP,
  cpp: CPP,
  go: {
    const_declaration: THROUGH,
    var_declaration: THROUGH,
    var_spec_list: THROUGH,
    const_spec: constantByName('go', 'const_spec'),
    var_spec: constantByName('go', 'var_spec'),
  },
  java: { field_declaration: orConstant(undefined, javaName) },
  javascript: ECMASCRIPT,
  python: { expression_statement: orConstant(RULES.python['expression_statement'], pythonName) },
  ruby: {
    assignment: orConstant(RULES.ruby['assignment'], (node) => {
      const name = getFieldText(node, 'left');
      return name !== null && /^[A-Z]/.test(name) ? name : null;
    }),
  },
  rust: {
    const_item: constantByName('rust', 'const_item'),
    static_item: constantByName('rust', 'static_item'),
  },
  tsx: ECMASCRIPT,
  typescript: ECMASCRIPT,
};

/** The rules of the index, and those for what is too small for a chunk: constants, macros, prototypes. */
export const OUTLINE_RULES: Readonly<Record<ParsedLanguage, Rules>> = Object.fromEntries(
  Object.entries(RULES).map(([language, rules]) => [
    language,
    { ...rules, ...MORE[language as ParsedLanguage] },
  ]),
) as Record<ParsedLanguage, Rules>;
