import { getNodeValue, type Node } from 'jsonc-parser';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Fault } from '@assay-mcp/kit/json-position';
import { list, type Reader, text, withSchema } from '@assay-mcp/kit/json-reader';
import { type ConfigPosition, resolvePosition, type ProblemCollector } from './problem-collector.ts';
import {
  type EntryReference,
  formatReference,
  toCommandReference,
} from '../../core/secrets/value-reference.ts';
import { ASKED, expand, type Expansion, type VariableSources } from './expand.ts';
import { getTreeMembers } from './json-tree.ts';

/** The values for variables in an entry, and the base of relative paths. */
export interface EntryContext extends VariableSources {
  readonly cwd: string;
  /** The absolute folder of Assay's data. */
  readonly assayHome: string;
}

/** An entry under `mcpServers` while it is read: its values by key, and where to report errors. */
export interface Entry {
  readonly node: Node;
  readonly path: readonly string[];
  readonly fields: ReadonlyMap<string, Node>;
  readonly here: EntryContext;
  readonly collector: ProblemCollector;
  /** Receives the values that are read when the server is connected. Absent: it can have none. */
  readonly references?: EntryReference[];
}

/** The location of a key's value. Undefined if the entry does not have the key. */
export function findPositionAt(entry: Entry, key: string): ConfigPosition | undefined {
  const node = entry.fields.get(key);
  return node && { node, path: [...entry.path, key] };
}

/**
 * The members of an object, each with its description and its JSON Schema. Those in which variables are expanded are
 * read by `expandTextAt` and `expandTextsAt`, the others by `readOptionAt`.
 */
export type EntryMembers = Readonly<Record<string, Reader<unknown>>>;

/** A list of texts in which variables are expanded. */
export const textList: Reader<readonly string[]> = list(text);

/** An object of texts in which variables are expanded: see `expandTextsAt`. */
export const textRecord: Reader<unknown> = withSchema(
  ({ value }) => value,
  () => ({
    type: 'object',
    additionalProperties: {
      anyOf: [
        { type: ['string', 'number', 'null'] },
        {
          type: 'object',
          properties: {
            command: {
              description: 'program that prints the value, with its arguments',
              ...{ type: 'array', items: { type: 'string' }, minItems: 1 },
            },
          },
          required: ['command'],
          additionalProperties: false,
        },
      ],
    },
  }),
);

/** A value in which variables are not expanded. Undefined if it is absent, or invalid and reported. */
export function readOptionAt<T>(entry: Entry, key: string, read: Reader<T>): T | undefined {
  const position = findPositionAt(entry, key);
  if (position === undefined) return undefined;
  const faults: Fault[] = [];
  const value = read({ value: getNodeValue(position.node), pointer: '', faults });
  for (const { pointer, reason } of faults)
    entry.collector.problem(resolvePosition(position, pointer), reason, 'Correct it, or leave the key out.');
  return faults.length === 0 ? value : undefined;
}

/** A string with its variables expanded. Undefined, with an error reported, if that is not possible. */
export function expandTextAt(entry: Entry, position: ConfigPosition): string | undefined {
  if (position.node.type !== 'string') {
    entry.collector.problem(position, 'this is not a string', 'Write it in double quotes.');
    return undefined;
  }
  const filled = filledIn(entry, position, String(position.node.value));
  if (filled === undefined || !hasReferences(filled)) return filled?.text;
  refuseReference(entry, position);
  return undefined;
}

/**
 * A URL whose user and password may contain references: the text as it is written, and its `shape`, with something in
 * their place. Undefined, with an error reported, if that is not possible.
 */
export function expandCredentialsAt(
  entry: Entry,
  position: ConfigPosition,
  member: Extract<EntryReference['member'], 'proxy'>,
): { readonly text: string; readonly shape: string } | undefined {
  if (position.node.type !== 'string') return void expandTextAt(entry, position);
  const filled = filledIn(entry, position, String(position.node.value));
  if (filled === undefined || !hasReferences(filled)) return filled && { ...filled, shape: filled.text };
  const last = filled.parts.at(-1);
  // A reference after the `@` would hide where it leads.
  if (entry.references === undefined || typeof last !== 'string' || !last.includes('@')) {
    refuseReference(entry, position);
    return undefined;
  }
  entry.references.push({ member, name: member, parts: filled.parts });
  return {
    text: filled.text,
    shape: filled.parts.map((part) => (typeof part === 'string' ? part : 'x')).join(''),
  };
}

/** Whoever reads an entry must see what it starts, and where it leads. */
function refuseReference({ collector }: Entry, position: ConfigPosition): void {
  collector.problem(
    position,
    'a secret, file or command can only stand in the values of "env" and "headers", and for the user and the password in "proxy"',
    'Put it into a variable or a header.',
  );
}

function hasReferences({ parts }: Pick<Expansion, 'parts'>): boolean {
  return parts.some((part) => typeof part !== 'string');
}

/** A record of strings, such as `env`. As in VS Code, a number counts as its text and null as absent. */
export function expandTextsAt(entry: Entry, key: string): readonly TextMember[] {
  const position = findPositionAt(entry, key);
  if (position === undefined) return [];
  if (position.node.type !== 'object') {
    entry.collector.problem(position, 'this is not an object', 'Write an object of strings.');
    return [];
  }
  return getTreeMembers(position.node).flatMap(({ key: name, keyNode, value }) => {
    if (value.type === 'null') return [];
    const path = [...position.path, name];
    const at = { node: value, path };
    const text = value.type === 'number' ? String(value.value) : expandValueAt(entry, { key, name }, at);
    return text === undefined
      ? []
      : [{ name, text, atName: { node: keyNode, path }, atText: { node: value, path } }];
  });
}

/** A value of a variable or a header, as it is written if it refers to others. */
function expandValueAt(
  entry: Entry,
  { key, name }: { readonly key: string; readonly name: string },
  at: ConfigPosition,
): string | undefined {
  const { node } = at;
  const command =
    node.type === 'object' ? toCommandReference((getNodeValue(node) as JsonObject)['command']) : undefined;
  const isCommand = node.type === 'object' && node.children?.length === 1;
  if (node.type === 'object' && (!isCommand || typeof command === 'string')) {
    const reason = typeof command === 'string' ? command : 'this object has other members than "command"';
    entry.collector.problem(at, reason, 'Write {"command": ["PROGRAM", "ARGUMENT"]}, or a text.');
    return undefined;
  }
  if (command === undefined && node.type !== 'string') return expandTextAt(entry, at);
  const filled =
    typeof command === 'object'
      ? { text: formatReference(command), parts: [command] }
      : filledIn(entry, at, String(node.value));
  if (filled === undefined || !hasReferences(filled)) return filled?.text;
  if (entry.references === undefined || (key !== 'env' && key !== 'headers')) {
    refuseReference(entry, at);
    return undefined;
  }
  entry.references.push({ member: key, name, parts: filled.parts });
  return filled.text;
}

interface TextMember {
  readonly name: string;
  readonly text: string;
  readonly atName: ConfigPosition;
  readonly atText: ConfigPosition;
}

function filledIn(
  entry: Entry,
  position: ConfigPosition,
  written: string,
): Pick<Expansion, 'text' | 'parts'> | undefined {
  const { text, parts, faults, missing, reserved, foreign } = expand(written, entry.here);
  for (const fault of faults)
    entry.collector.problem(position, fault, 'Write ${secret:NAME}, ${file:PATH} or ${command:["PROGRAM"]}.');
  // An unknown "${…}" may be part of a password, so it is not repeated.
  if (foreign)
    entry.collector.warn(
      position,
      'a "${…}" in this text is not a variable and is left unchanged',
      'Variables look like ${NAME} or ${NAME:-default}.',
    );
  for (const name of missing)
    if (name === ASKED)
      entry.collector.problem(
        position,
        '"${input:…}" prompts a person, which Assay cannot do here',
        'Use an environment variable: ${NAME}.',
      );
    else
      entry.collector.problem(
        position,
        `the environment variable ${name} is not set`,
        `Set ${name}, or give it a default: \${${name}:-…}.`,
      );
  for (const name of reserved)
    entry.collector.problem(
      position,
      `the variable ${name} is Assay's own and is never passed on`,
      'Put the value into a variable whose name does not begin with ASSAY_ or HYPERTOOL_.',
    );
  if (missing.length > 0 || reserved.length > 0 || faults.length > 0) return undefined;
  // No system passes NUL in arguments or variables, and starting a process with one throws.
  if (text.includes('\0')) {
    entry.collector.problem(position, 'this text contains a NUL character', 'Remove it.');
    return undefined;
  }
  return { text, parts };
}
