import type { posix } from 'node:path';
import type { Node } from 'jsonc-parser';
import { membersOf, type TreeMember } from '../json-tree.ts';
import { type Inputs, variableOf } from './inputs.ts';

/** Where an entry stands, as far as it matters for what its texts mean. */
export interface EntryHome extends Fillings {
  readonly paths: typeof posix;
  /** Where relative paths start; undefined where the client leaves that open. */
  readonly base: string | undefined;
}

/** An entry as Assay's config says it. Every node keeps the place that it has in the client's file. */
interface Translated {
  readonly node: Node;
  readonly leftOut: readonly string[];
  /** What cannot be said in Assay's config. */
  readonly fault: { readonly node: Node; readonly reason: string } | undefined;
}

/** Keys that mean here what they mean there. */
const KEPT: ReadonlySet<string> = new Set([
  ...['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'disabled'],
  ...['timeoutMs', 'prefix'],
]);
/** What other clients call a key: `serverUrl` in Windsurf, `transport` in Devin. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['serverUrl', 'url'],
  ['transport', 'type'],
]);

/** The entry of a server, an object, without what has no meaning for Assay. `isOff`: the client has it switched off. */
export function translateEntry(entry: Node, home: EntryHome, isOff: boolean): Translated {
  const leftOut: string[] = [];
  const faults: { readonly node: Node; readonly reason: string }[] = [];
  const given = membersOf(entry);
  const keys = new Set(given.map(({ key }) => key));
  const properties: Node[] = [];
  for (const { key, keyNode, value } of given) {
    const renamed = RENAMED.get(key);
    const known = renamed !== undefined && !keys.has(renamed) ? renamed : key;
    if (!KEPT.has(known)) {
      leftOut.push(key);
      continue;
    }
    const filled = filledIn(value, (node, text) => {
      const { text: out, fault } = fillIn(text, home);
      if (fault !== undefined) faults.push({ node, reason: fault });
      return out;
    });
    properties.push(property(entry, { ...keyNode, value: known }, placed(known, filled, home)));
  }
  const has = (key: string): boolean => properties.some(({ children }) => children?.[0]?.value === key);
  // Clients start the servers of a project in its folder, and relative arguments rely on it.
  if (home.project !== undefined && home.base === home.project && has('command') && !has('cwd'))
    properties.push(added(entry, 'cwd', { type: 'string', value: home.project }));
  if (isOff && !has('disabled')) properties.push(added(entry, 'disabled', { type: 'boolean', value: true }));
  return { node: { ...entry, children: properties }, leftOut, fault: faults[0] };
}

/** The value of a tree, members in their order, whatever their names. */
export function valueOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(valueOf);
  if (node.type !== 'object') return node.value as unknown;
  return Object.fromEntries(membersOf(node).map(({ key, value }: TreeMember) => [key, valueOf(value)]));
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

/** A command with a slash and a folder, absolute. A bare command is sought on the PATH. */
function placed(key: string, node: Node, { paths, base }: EntryHome): Node {
  const text: unknown = node.value;
  const isPath = key === 'cwd' || (key === 'command' && /[\\/]/.test(String(text)));
  if (!isPath || base === undefined || typeof text !== 'string' || text === '' || /^(?:~|\$\{)/.test(text))
    return node;
  return { ...node, value: paths.resolve(base, text) };
}

function property(entry: Node, key: Node, value: Node): Node {
  return { type: 'property', offset: key.offset, length: entry.length, children: [key, value] };
}

function added(entry: Node, key: string, value: Pick<Node, 'type' | 'value'>): Node {
  const { offset } = entry;
  return property(entry, { type: 'string', value: key, offset, length: 0 }, { ...value, offset, length: 0 });
}

/** What a client fills into the texts of its entries. */
interface Fillings {
  readonly paths: Pick<typeof posix, 'basename' | 'sep'>;
  readonly home: string;
  /** The folder that is open in the client; undefined where the file belongs to none. */
  readonly project: string | undefined;
  readonly inputs: Inputs;
}

interface Filled {
  readonly text: string;
  /** Why the text cannot be taken over; it names no value. */
  readonly fault: string | undefined;
}

/**
 * A client's text as Assay's config says it: `${env:NAME}` becomes `${NAME}`, `${input:id}` a variable, the folders of
 * https://code.visualstudio.com/docs/reference/variables-reference become paths. `${NAME}` and `${NAME:-default}` stay.
 */
function fillIn(text: string, fillings: Fillings): Filled {
  let fault: string | undefined;
  const filled = text.replace(/\$\{([^{}]*)\}/g, (whole, inner: string) => {
    const known = meaningOf(inner, fillings);
    if (known !== undefined) return known;
    fault ??= faultOf(inner);
    return whole;
  });
  return { text: filled, fault };
}

const NAME = /^(?:env:)?([A-Za-z_]\w*)$/;
const WITH_DEFAULT = /^[A-Za-z_]\w*:-/;
/** Of the folder that is open. */
const OF_PROJECT: ReadonlySet<string> = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'workspaceRoot',
]);
/** Of the editor's window: there is none here. */
const OF_EDITOR =
  /^(?:cwd|execPath|file\w*|relativeFile\w*|lineNumber|columnNumber|selectedText|defaultBuildTask|extensionInstallFolder)$/;

function meaningOf(inner: string, { paths, home, project, inputs }: Fillings): string | undefined {
  if (inner === 'userHome') return home;
  if (inner === 'pathSeparator' || inner === '/') return paths.sep;
  if (OF_PROJECT.has(inner)) return inner.endsWith('Basename') ? project && paths.basename(project) : project;
  if (inner.startsWith('input:')) {
    const id = inner.slice('input:'.length);
    return inputs.get(id)?.reference ?? `\${${variableOf(id)}}`;
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
    ? 'a "${…}" in it is filled in by that client alone'
    : `\${${kind}${kind.endsWith(':') ? '…' : ''}} is filled in by that client alone`;
}
