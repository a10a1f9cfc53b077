import type { posix } from 'node:path';
import type { Node } from 'jsonc-parser';
import { getTreeMembers, toTree, type TreeMember } from '../json-tree.ts';
import { renameKeys, type Dialect, type EntryFault } from './entry-keys.ts';
import { type Inputs, toVariableName } from './inputs.ts';

/** The context of an entry that determines what its texts mean. */
export interface EntryHome extends Fillings, Dialect {
  readonly paths: typeof posix;
  /** Base of relative paths. Undefined if the client does not define one. */
  readonly base: string | undefined;
}

/** An entry in Assay's config format. Nodes keep their position in the client's file. */
interface Translated {
  readonly node: Node;
  readonly leftOut: readonly string[];
  /** The first part that Assay's config cannot express. */
  readonly fault: EntryFault | undefined;
}

/** Translates an entry, which must be an object, and drops unsupported keys. `isOff`: the client has it disabled. */
export function translateEntry(entry: Node, home: EntryHome, isOff: boolean): Translated {
  const { members, leftOut, fault } = renameKeys(entry, home);
  const faults = fault === undefined ? [] : [fault];
  const properties = members.map(({ key, keyNode, value }) => {
    const filled = filledIn(value, (node, text) => {
      const { text: out, fault: inText } = fillIn(text, home);
      if (inText !== undefined) faults.push({ node, reason: inText });
      return out;
    });
    return property(entry, { ...keyNode, value: key }, placed(key, filled, home));
  });
  const has = (key: string): boolean => members.some((member) => member.key === key);
  // Clients start the servers of a project in its folder, and relative arguments rely on it.
  if (home.project !== undefined && home.base === home.project && has('command') && !has('cwd'))
    properties.push(added(entry, 'cwd', home.project));
  if (isOff && !has('disabled')) properties.push(added(entry, 'disabled', true));
  return { node: { ...entry, children: properties }, leftOut, fault: faults[0] };
}

/** Converts a tree to its value; member order and all member names are preserved. */
export function toJsonValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(toJsonValue);
  if (node.type !== 'object') return node.value as unknown;
  return Object.fromEntries(
    getTreeMembers(node).map(({ key, value }: TreeMember) => [key, toJsonValue(value)]),
  );
}

function filledIn(node: Node, fill: (node: Node, text: string) => string): Node {
  if (node.type === 'string') return { ...node, value: fill(node, String(node.value)) };
  if (node.children === undefined) return node;
  const isProperty = node.type === 'property';
  const children = node.children.map((child, index) =>
    isProperty && index === 0 ? child : filledIn(child, fill),
  );
  return { ...node, children };
}

/** Makes a folder, or a command that contains a slash, absolute. A bare command is looked up in PATH. */
function placed(key: string, node: Node, { paths, base }: EntryHome): Node {
  const text: unknown = node.value;
  const isPath = key === 'cwd' || key === 'envFile' || (key === 'command' && /[\\/]/.test(String(text)));
  if (!isPath || base === undefined || typeof text !== 'string' || text === '' || /^(?:~|\$\{)/.test(text))
    return node;
  return { ...node, value: paths.resolve(base, text) };
}

function property(entry: Node, key: Node, value: Node): Node {
  return { type: 'property', offset: key.offset, length: entry.length, children: [key, value] };
}

function added(entry: Node, key: string, value: string | boolean): Node {
  const { offset } = entry;
  return property(entry, { type: 'string', value: key, offset, length: 0 }, toTree(value, offset));
}

/** The values that a client substitutes in its entries. */
interface Fillings {
  readonly paths: Pick<typeof posix, 'basename' | 'sep'>;
  readonly home: string;
  /** The folder open in the client. Undefined if the file belongs to no project. */
  readonly project: string | undefined;
  readonly inputs: Inputs;
}

interface TranslatedText {
  readonly text: string;
  /** Why the text cannot be translated; contains no values. */
  readonly fault: string | undefined;
}

/**
 * Translates the variables in a client's text: `${env:NAME}` becomes `${NAME}`, `${input:id}` a variable, and the
 * folders of https://code.visualstudio.com/docs/reference/variables-reference become paths. `${NAME}` and
 * `${NAME:-default}` stay.
 */
function fillIn(text: string, fillings: Fillings & Dialect): TranslatedText {
  const referred = REFERENCES[fillings.references ?? 'none'](text);
  let fault = referred.fault;
  const filled = referred.text.replace(/\$\{([^{}]*)\}/g, (whole, inner: string) => {
    const known = meaningOf(inner, fillings);
    if (known !== undefined) return known;
    fault ??= faultOf(inner);
    return whole;
  });
  return { text: filled, fault };
}

/** Translates each client's syntax for variables to Assay's. */
const REFERENCES: Readonly<
  Record<NonNullable<Dialect['references']> | 'none', (text: string) => TranslatedText>
> = {
  none: (text) => ({ text, fault: undefined }),
  dollar: (text) => ({ text: text.replace(/\$([A-Za-z_]\w*)/g, '${$1}'), fault: undefined }),
  braces: (text) => ({
    text: text.replace(/\{env:([A-Za-z_]\w*)\}/g, '${$1}'),
    fault: /\{file:[^}]*\}/.test(text) ? 'only that client can replace {file:…}' : undefined,
  }),
};

const NAME = /^(?:env:)?([A-Za-z_]\w*)$/;
const WITH_DEFAULT = /^[A-Za-z_]\w*:-/;
/** Variables for the open folder. */
const OF_PROJECT: ReadonlySet<string> = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'workspaceRoot',
]);
/** Variables for the editor window, which Assay does not have. */
const OF_EDITOR =
  /^(?:cwd|execPath|file\w*|relativeFile\w*|lineNumber|columnNumber|selectedText|defaultBuildTask|extensionInstallFolder)$/;

function meaningOf(inner: string, { paths, home, project, inputs }: Fillings): string | undefined {
  if (inner === 'userHome') return home;
  if (inner === 'pathSeparator' || inner === '/') return paths.sep;
  if (OF_PROJECT.has(inner)) return inner.endsWith('Basename') ? project && paths.basename(project) : project;
  if (inner.startsWith('input:')) {
    const id = inner.slice('input:'.length);
    return inputs.get(id)?.reference ?? `\${${toVariableName(id)}}`;
  }
  if (OF_EDITOR.test(inner)) return undefined;
  const name = NAME.exec(inner)?.[1];
  if (name !== undefined) return `\${${name}}`;
  return WITH_DEFAULT.test(inner) ? `\${${inner}}` : undefined;
}

function faultOf(inner: string): string {
  if (OF_PROJECT.has(inner)) return `\${${inner}} means the folder of a project: say which with --project`;
  const kind = OF_EDITOR.exec(inner)?.[0] ?? /^[A-Za-z]+:/.exec(inner)?.[0];
  return kind === undefined
    ? 'only that client can replace a "${…}" in it'
    : `only that client can replace \${${kind}${kind.endsWith(':') ? '…' : ''}}`;
}
