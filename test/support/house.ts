import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import ts from 'typescript';
import { BY_PORT, ROOF, ROOMS, type Room } from './rooms.ts';

const MAX_LINES = 300;
const TABLE_OF_DATA = '// A table of data: ';
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const NAMES_OF_KINDS = new Set([
  'type',
  'types',
  'util',
  'utils',
  'helper',
  'helpers',
  'manager',
  'managers',
]);
const SQL =
  /^\s*(select\s.*\sfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|(create|alter|drop)\s+(table|index)|pragma)\s/is;
// A sentence for people begins with one capital; a statement for a database has all its letters alike.
const SENTENCE = /^\s*[A-Z][a-z]/;

/** Every break of the rules of the house, as a sentence that names the right door. Paths are `src/room/file.ts`. */
export function offences(files: ReadonlyMap<string, string>): readonly string[] {
  const modules = [...files].map(([path, text]) => moduleOf(path, text));
  const found = [
    ...modules.flatMap((module) => [
      ...offencesOfName(module),
      ...offencesOfShape(module),
      ...offencesOfImports(module),
    ]),
    ...cycles(modules),
  ];
  return [...new Set(found)];
}

interface Module {
  readonly path: string;
  readonly room: Room | undefined;
  readonly text: string;
  readonly syntax: ts.SourceFile;
  readonly imports: readonly Import[];
}

/** `names` are the names taken from the module; `*` where that may be all. */
interface Import {
  readonly specifier: string;
  readonly names: readonly string[];
}

function moduleOf(path: string, text: string): Module {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports = nodesOf(syntax).flatMap((node): Import[] => {
    const specifier = specifierOf(node);
    return specifier && ts.isStringLiteralLike(specifier)
      ? [{ specifier: specifier.text, names: namesOf(node) }]
      : [];
  });
  return { path, room: roomOf(path), text, syntax, imports };
}

function roomOf(path: string): Room | undefined {
  if (posix.dirname(path) === 'src') return ROOF;
  return ROOMS.find((room) => path.startsWith(`src/${room.name}/`));
}

function nodesOf(node: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (inner: ts.Node): void => {
    nodes.push(inner);
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return nodes;
}

/** Static, type-only, dynamic and re-export imports, `import('…')` as a type, and both ways to `require`. */
function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (!ts.isCallExpression(node)) return undefined;
  const { expression } = node;
  const isImport = expression.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = ts.isIdentifier(expression) && expression.text === 'require';
  return isImport || isRequire ? node.arguments[0] : undefined;
}

function namesOf(node: ts.Node): readonly string[] {
  if (ts.isExportDeclaration(node) && node.exportClause && ts.isNamedExports(node.exportClause)) {
    return node.exportClause.elements.map((element) => (element.propertyName ?? element.name).text);
  }
  if (!ts.isImportDeclaration(node) || !node.importClause) return ['*'];
  const { name, namedBindings } = node.importClause;
  const wanted = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : undefined;
  if (name || !wanted) return ['*'];
  return wanted.map((element) => (element.propertyName ?? element.name).text);
}

function offencesOfName({ path, room }: Module): readonly string[] {
  const found: string[] = [];
  if (!room)
    found.push(`${path} stands in no room: move it to one of ${sentence(ROOMS.map(({ name }) => name))}.`);
  for (const part of path.replace(/\.tsx?$/, '').split('/')) {
    if (!KEBAB_CASE.test(part)) found.push(`${path}: "${part}" is not kebab-case.`);
    const kind = part.split('-').find((word) => NAMES_OF_KINDS.has(word));
    if (kind)
      found.push(`${path}: "${kind}" names a kind; split by matter, and call the file what it exports.`);
  }
  return found;
}

function offencesOfShape({ path, room, text, syntax }: Module): readonly string[] {
  const found: string[] = [];
  const lines = text.replace(/\n$/, '').split('\n').length;
  if (lines > MAX_LINES && !text.startsWith(TABLE_OF_DATA)) {
    found.push(
      `${path} has ${lines} lines: split it by matter into files of at most ${MAX_LINES}, ` +
        `or open it with "${TABLE_OF_DATA}…" if it is one.`,
    );
  }
  if (isBarrel(syntax))
    found.push(`${path} only re-exports: remove it, and import each thing where it is written.`);
  for (const node of nodesOf(syntax)) {
    const line = syntax.getLineAndCharacterOfPosition(node.getStart(syntax)).line + 1;
    if (room?.name !== 'adapters/store' && isSql(node)) {
      found.push(`${path}:${line} holds SQL: only adapters/store speaks it; reach the store ${BY_PORT}.`);
    }
    if (room?.name !== 'edges/cli' && ts.isIdentifier(node) && node.text === 'console') {
      found.push(`${path}:${line} uses console: only edges/cli may; return a value, or log ${BY_PORT}.`);
    }
  }
  return found;
}

function isBarrel({ statements }: ts.SourceFile): boolean {
  const isPassage = (node: ts.Statement): boolean =>
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
  return statements.some(ts.isExportDeclaration) && statements.every(isPassage);
}

function isSql(node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return false;
  const text = ts.isTemplateExpression(node) ? node.getText().slice(1) : node.text;
  return SQL.test(`${text} `) && !SENTENCE.test(text);
}

function offencesOfImports(module: Module): readonly string[] {
  const { path, room } = module;
  if (!room) return [];
  return module.imports.flatMap((wanted) => {
    const target = targetOf(path, wanted.specifier);
    const offence =
      target === undefined ? offenceOfUse(path, room, wanted) : offenceOfImport(path, room, target);
    return offence ?? [];
  });
}

/** The file that a relative import means; undefined for packages and for modules of Node. */
function targetOf(path: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined;
}

function offenceOfImport(path: string, room: Room, target: string): string | undefined {
  if (!target.startsWith('src/')) return `${path} imports ${target}: what ships imports only from src/.`;
  const there = roomOf(target);
  const place = target.slice('src/'.length).replace(/\.tsx?$/, '');
  if (there === room || room.imports.some((door) => `${place}/`.startsWith(`${door}/`))) return undefined;
  const may = room.imports.length === 0 ? 'only itself' : sentence(room.imports);
  const goal = there?.name ?? place;
  return `${path} imports ${place}: ${room.name} may import ${may}; reach ${goal} ${room.otherwise}.`;
}

function offenceOfUse(path: string, room: Room, { specifier, names }: Import): string | undefined {
  const used = packageOf(specifier);
  if (room.exceptions?.[path]?.includes(used)) return undefined;
  if (room.uses.some((use) => covers(use, used))) {
    const allowed = room.names?.[used];
    if (!allowed || names.every((name) => allowed.includes(name))) return undefined;
    return `${path} imports ${sentence(names)} from ${used}: ${room.name} may take only ${sentence(allowed)}.`;
  }
  const homes = [...ROOMS, ROOF]
    .filter(({ uses }) => uses.some((use) => covers(use, used)))
    .map(({ name }) => name);
  const home = homes.length === 0 ? 'no room has it yet' : `it is at home in ${sentence(homes)}`;
  const may = room.uses.length === 0 ? 'nothing from outside' : sentence(room.uses);
  return `${path} imports ${used}: ${room.name} may use ${may}; reach ${used} ${room.otherwise} (${home}).`;
}

/** `node:fs` for `fs/promises`, `@scope/name` for `@scope/name/part`. */
function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  if (isBuiltin(specifier)) return `node:${(parts[0] ?? '').replace(/^node:/, '')}`;
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function covers(use: string, used: string): boolean {
  return use.endsWith('/*') ? used.startsWith(use.slice(0, -1)) : use === used;
}

function cycles(modules: readonly Module[]): readonly string[] {
  const targets = new Map(
    modules.map(({ path, imports }) => [path, imports.map(({ specifier }) => targetOf(path, specifier))]),
  );
  const found: string[] = [];
  const walked = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      const round = [...trail.slice(start), path].join(' → ');
      found.push(`${round} is a cycle of imports: move what they share below them.`);
    }
    if (walked.has(path)) return;
    walked.add(path);
    for (const target of targets.get(path) ?? []) if (target !== undefined) walk(target, [...trail, path]);
  };
  for (const { path } of modules) walk(path, []);
  return found;
}

function sentence(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(words);
}
