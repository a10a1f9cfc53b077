import type { posix } from 'node:path';
import { variableOf, type Inputs } from './inputs.ts';

/** What a client fills into the texts of its entries. */
export interface Fillings {
  readonly paths: Pick<typeof posix, 'basename' | 'sep'>;
  readonly home: string;
  /** The folder that is open in the client; undefined where the file belongs to none. */
  readonly project: string | undefined;
  readonly inputs: Inputs;
}

export interface Filled {
  readonly text: string;
  /** Why the text cannot be taken over; it names no value. */
  readonly fault: string | undefined;
}

/**
 * A client's text as Assay's config says it: `${env:NAME}` becomes `${NAME}`, `${input:id}` a variable, the folders of
 * https://code.visualstudio.com/docs/reference/variables-reference become paths. `${NAME}` and `${NAME:-default}` stay.
 */
export function fillIn(text: string, fillings: Fillings): Filled {
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
