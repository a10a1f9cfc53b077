import type { Language, Node, Tree, TreeCursor } from 'web-tree-sitter';
import type { ChunkKind } from '../source-chunk.ts';
import { LARGE_LINES, type Description, type Rule, type Rules } from './rules/rule.ts';

/** A declaration in a file, as lines. */
export interface FoundSymbol {
  readonly kind: ChunkKind;
  readonly name: string | null;
  readonly parent: string | null;
  readonly signature: string;
  /** Zero-based, inclusive, with its comments and decorators. */
  readonly firstRow: number;
  readonly lastRow: number;
  /** Where the declaration itself starts. */
  readonly declaredRow: number;
  /** Where its body starts; null if it has none. */
  readonly bodyRow: number | null;
  /** Searched for only in symbols that are too large for one chunk. */
  readonly members: readonly FoundSymbol[];
}

export interface SymbolLimits {
  /** A class, or another symbol with members, is kept as one chunk up to this size. */
  readonly maxLines: number;
  readonly maxCharacters: number;
}

const MAX_DEPTH = 64;
const MAX_NAME_LENGTH = 200;
const MAX_SIGNATURE_LENGTH = 300;
/** Comments in a long signature may push its end beyond this. */
const MAX_SIGNATURE_SOURCE = 2_000;

const WITH_METHODS: ReadonlySet<ChunkKind> = new Set([
  'class',
  'interface',
  'struct',
  'trait',
  'enum',
  'module',
]);

/**
 * The declarations of a file, in order. Enters only nodes that may contain some: walking the whole tree takes longer
 * than parsing.
 */
export function findSymbols(tree: Tree, rules: Rules, limits: SymbolLimits): readonly FoundSymbol[] {
  const cursor = tree.walk();
  try {
    return new SymbolFinder(cursor, rulesById(tree.language, rules), limits).childSymbols({
      parent: null,
      isInClass: false,
      depth: 0,
    });
  } finally {
    cursor.delete();
  }
}

type RulesById = ReadonlyMap<number, Rule>;

const byRules = new WeakMap<Rules, WeakMap<Language, RulesById>>();

/** By numeric ids, because a keyword may have the same name as a node, such as `class`. */
function rulesById(grammar: Language, rules: Rules): RulesById {
  const byGrammar = byRules.get(rules) ?? new WeakMap<Language, RulesById>();
  byRules.set(rules, byGrammar);
  let byId = byGrammar.get(grammar);
  if (byId === undefined) {
    const named = grammar.types.flatMap((type, id): [number, Rule][] => {
      const rule = grammar.nodeTypeIsNamed(id) ? rules[type] : undefined;
      return rule === undefined ? [] : [[id, rule]];
    });
    byId = new Map(named);
    byGrammar.set(grammar, byId);
  }
  return byId;
}

interface Scope {
  readonly parent: string | null;
  readonly isInClass: boolean;
  readonly depth: number;
}

/** Rows of comments and attributes that end just above the next node. */
interface Lead {
  firstRow: number;
  lastRow: number;
}

class SymbolFinder {
  readonly #cursor: TreeCursor;
  readonly #rules: RulesById;
  readonly #limits: SymbolLimits;

  constructor(cursor: TreeCursor, rules: RulesById, limits: SymbolLimits) {
    this.#cursor = cursor;
    this.#rules = rules;
    this.#limits = limits;
  }

  /** The symbols below the cursor's node. The cursor returns to that node. */
  childSymbols(scope: Scope): FoundSymbol[] {
    const found: FoundSymbol[] = [];
    if (scope.depth > MAX_DEPTH || !this.#cursor.gotoFirstChild()) return found;
    const lead: Lead = { firstRow: -1, lastRow: -2 };
    let previousRow = -1;
    do {
      const rule = this.#rules.get(this.#cursor.nodeTypeId);
      if (rule?.role === 'lead') this.#extend(lead, previousRow);
      else if (rule !== undefined) {
        const { row } = this.#cursor.startPosition;
        const symbols = this.#symbolsOf(rule, scope);
        const [first] = symbols;
        if (
          first !== undefined &&
          rule.role !== 'through' &&
          rule.role !== 'scope' &&
          lead.lastRow >= row - 1
        )
          symbols[0] = { ...first, firstRow: Math.min(first.firstRow, lead.firstRow) };
        found.push(...symbols);
      }
      previousRow = this.#cursor.endPosition.row;
    } while (this.#cursor.gotoNextSibling());
    this.#cursor.gotoParent();
    return found;
  }

  #extend(lead: Lead, previousRow: number): void {
    const { row } = this.#cursor.startPosition;
    // A comment at the end of a line belongs to that line.
    if (row === previousRow && row !== lead.lastRow) return;
    if (row > lead.lastRow + 1) lead.firstRow = row;
    lead.lastRow = lastRowOf(this.#cursor);
  }

  #symbolsOf(rule: Rule, scope: Scope): FoundSymbol[] {
    const inner = { ...scope, depth: scope.depth + 1 };
    switch (rule.role) {
      case 'lead':
        return [];
      case 'symbol':
        return this.#declared(rule, scope);
      case 'scope':
        return this.#inScope(this.#cursor.currentNode, scope);
      case 'through':
        return this.#lineCount() < rule.minLines ? [] : this.childSymbols(inner);
      case 'wrapper': {
        const firstRow = this.#cursor.startPosition.row;
        const lastRow = lastRowOf(this.#cursor);
        const symbols = this.childSymbols(inner);
        const [first] = symbols;
        if (first !== undefined) symbols[0] = { ...first, firstRow };
        const last = symbols.at(-1);
        if (last !== undefined) symbols[symbols.length - 1] = { ...last, lastRow };
        return symbols;
      }
    }
  }

  #declared(rule: Extract<Rule, { role: 'symbol' }>, scope: Scope): FoundSymbol[] {
    const node = this.#cursor.currentNode;
    const described = rule.describe(node);
    if (described === 'scope') return this.#inScope(node, scope);
    const inner = { ...scope, depth: scope.depth + 1 };
    // Not a declaration itself, but large enough to contain some.
    if (described === undefined || described === 'through')
      return described === undefined && this.#lineCount() < LARGE_LINES ? [] : this.childSymbols(inner);
    const parent = joined(scope.parent, described.owner ?? null);
    const name = described.name?.slice(0, MAX_NAME_LENGTH) ?? null;
    const kind = described.kind === 'function' && scope.isInClass ? 'method' : described.kind;
    const members = this.#isTooLarge(node, kind)
      ? this.childSymbols({ ...inner, parent: joined(parent, name), isInClass: WITH_METHODS.has(kind) })
      : [];
    const firstRow = node.startPosition.row;
    const bodyRow = described.body?.startPosition.row ?? null;
    const rows = { firstRow, lastRow: lastRowOf(this.#cursor), declaredRow: firstRow, bodyRow };
    return [{ kind, name, parent, signature: signatureOf(node, described), ...rows, members }];
  }

  #inScope(node: Node, scope: Scope): FoundSymbol[] {
    const name = node.childForFieldName('name')?.text.replace(/^(['"])(.*)\1$/, '$2') ?? null;
    return this.childSymbols({
      parent: joined(scope.parent, name),
      isInClass: scope.isInClass,
      depth: scope.depth + 1,
    });
  }

  #isTooLarge(node: Node, kind: ChunkKind): boolean {
    const characters = node.endIndex - node.startIndex;
    if (characters > this.#limits.maxCharacters) return true;
    return (WITH_METHODS.has(kind) || kind === 'constant') && this.#lineCount() > this.#limits.maxLines;
  }

  #lineCount(): number {
    return lastRowOf(this.#cursor) - this.#cursor.startPosition.row + 1;
  }
}

/** Some nodes end with the line break. */
function lastRowOf({
  startPosition,
  endPosition,
}: Pick<TreeCursor, 'startPosition' | 'endPosition'>): number {
  return endPosition.column === 0 && endPosition.row > startPosition.row
    ? endPosition.row - 1
    : endPosition.row;
}

function joined(parent: string | null, name: string | null): string | null {
  if (name === null) return parent;
  return (parent === null ? name : `${parent}.${name}`).slice(0, 4 * MAX_NAME_LENGTH);
}

function signatureOf(node: Node, { body }: Description): string {
  const end = body === undefined || body === null ? node.endIndex : body.startIndex;
  const source = node.text.slice(0, Math.min(end - node.startIndex, MAX_SIGNATURE_SOURCE));
  const line = source.replace(/\s+/g, ' ').replace(/ ?(?:=>|[{:=]) ?$/, '');
  return line.trim().slice(0, MAX_SIGNATURE_LENGTH);
}
