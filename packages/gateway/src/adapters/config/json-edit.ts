import { applyEdits, type Edit, type Node } from 'jsonc-parser';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { getTreeMembers, parseJsonTree, toPosition, type SyntaxFault, type TreeMember } from './json-tree.ts';

/** An edited text, and the lines added. */
export interface Edited {
  readonly text: string;
  /** Number of the first of `lines`, counted from 1. */
  readonly line: number;
  readonly lines: readonly string[];
  /** Whether a member of this name was replaced. */
  readonly isReplaced: boolean;
}

/**
 * Sets a member in a JSON text with comments and creates missing parent objects. All other bytes stay: nothing is
 * reformatted and no comment moves. (The editor of jsonc-parser reformats the lines around its edits.) A blank text
 * counts as an empty object. Fails if the text is not JSON, or if a parent is not an object.
 */
export function setJsonMember(
  text: string,
  path: readonly string[],
  value: unknown,
): Result<Edited, SyntaxFault> {
  const style = styleOf(text);
  if (text.trim() === '') {
    const whole = serialised(nested(path, value), '', style) + style.eol;
    return ok({ text: whole, line: 1, lines: linesOf(whole), isReplaced: false });
  }
  const found = findParent(text, path);
  if (!found.ok) return found;
  const { parent, rest } = found.value;
  const [name = '', ...deeper] = rest;
  const members = getTreeMembers(parent);
  const present = members.find(({ key }) => key === name);
  if (present !== undefined) {
    const { offset, length } = present.value;
    const isLined =
      isOnOwnLine(text, present.keyNode.offset) || text.slice(offset, offset + length).includes('\n');
    const indent = indentAt(text, present.keyNode.offset);
    const content = isLined ? serialised(value, indent, style) : JSON.stringify(value);
    const line = toPosition(text, offset).line;
    const shown = `${JSON.stringify(name)}: ${content}`;
    return ok(edited(text, [{ offset, length, content }], { line, shown, isReplaced: true }));
  }
  return ok(inserted(text, { parent, members, style, name, value: nested(deeper, value) }));
}

/** Removes a member, its comma and any lines of its own. Undefined if there is no such member. */
export function removeJsonMember(text: string, path: readonly string[]): string | undefined {
  const found = text.trim() === '' ? undefined : findParent(text, path);
  if (!found?.ok || found.value.rest.length !== 1) return undefined;
  const members = getTreeMembers(found.value.parent);
  const index = members.findIndex(({ key }) => key === path.at(-1));
  const member = members[index];
  if (member === undefined) return undefined;
  const closing = found.value.parent.offset + found.value.parent.length - 1;
  const valueEnd = endOf(member);
  const after = tailOf(text, valueEnd, members[index + 1]?.keyNode.offset ?? closing);
  const previous = members[index - 1];
  const edits: Edit[] = [];
  let end = valueEnd;
  if (after.commaAt !== undefined && text.slice(valueEnd, after.commaAt).trim() === '')
    end = after.commaAt + 1;
  else if (after.commaAt !== undefined) edits.push({ offset: after.commaAt, length: 1, content: '' });
  else if (previous !== undefined) {
    const { commaAt } = tailOf(text, endOf(previous), member.keyNode.offset);
    if (commaAt !== undefined) edits.push({ offset: commaAt, length: 1, content: '' });
  }
  const span = spanToRemove(text, member.keyNode.offset, end);
  return checked(applyEdits(text, [...edits, { ...span, content: '' }]));
}

interface Style {
  readonly eol: string;
  readonly unit: string;
}

/** Line endings and indentation of the text. */
function styleOf(text: string): Style {
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: /\n(\t| +)["/]/.exec(text)?.[1] ?? '  ' };
}

function serialised(value: unknown, indent: string, { eol, unit }: Style): string {
  return JSON.stringify(value, undefined, unit)
    .split('\n')
    .join(eol + indent);
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

interface Parent {
  /** The innermost existing object on the path. */
  readonly parent: Node;
  /** The rest of the path from there. */
  readonly rest: readonly string[];
}

function findParent(text: string, path: readonly string[]): Result<Parent, SyntaxFault> {
  const tree = parseJsonTree(text);
  if (!tree.ok) return tree;
  let parent = tree.value;
  for (let step = 0; ; step += 1) {
    if (parent.type !== 'object') return err({ offset: parent.offset, reason: 'this is not an object' });
    const [first, second] = getTreeMembers(parent).filter(({ key }) => key === path[step]);
    // Parsers differ in which of the two they use.
    if (second !== undefined) return err({ offset: second.keyNode.offset, reason: 'this key appears twice' });
    if (first === undefined || step === path.length - 1) return ok({ parent, rest: path.slice(step) });
    parent = first.value;
  }
}

interface Insertion {
  readonly parent: Node;
  readonly members: readonly TreeMember[];
  readonly style: Style;
  readonly name: string;
  readonly value: unknown;
}

function inserted(text: string, { parent, members, style, name, value }: Insertion): Edited {
  const closing = parent.offset + parent.length - 1;
  const last = members.at(-1);
  const from = last === undefined ? parent.offset + 1 : endOf(last);
  const { commaAt, end } = tailOf(text, from, closing);
  const key = `${JSON.stringify(name)}: `;
  const isLined = last === undefined || text.slice(parent.offset, closing).includes('\n');
  const indent =
    last !== undefined && isOnOwnLine(text, last.keyNode.offset)
      ? indentAt(text, last.keyNode.offset)
      : indentAt(text, parent.offset) + style.unit;
  const body = key + (isLined ? serialised(value, indent, style) : JSON.stringify(value));
  const lead = isLined ? style.eol + indent : ' ';
  const needsEnd = last === undefined && !text.slice(end, closing).includes('\n');
  const trail =
    (commaAt === undefined ? '' : ',') + (needsEnd ? style.eol + indentAt(text, parent.offset) : '');
  const edits = [{ offset: end, length: 0, content: lead + body + trail }];
  if (last !== undefined && commaAt === undefined) edits.unshift({ offset: from, length: 0, content: ',' });
  const line = toPosition(text, end).line + (isLined ? 1 : 0);
  return edited(text, edits, { line, shown: (isLined ? indent : '') + body, isReplaced: false });
}

interface InsertedLines {
  readonly line: number;
  readonly shown: string;
  readonly isReplaced: boolean;
}

function edited(text: string, edits: Edit[], { line, shown, isReplaced }: InsertedLines): Edited {
  return { text: checked(applyEdits(text, edits)), line, lines: linesOf(shown), isReplaced };
}

/** Guards against writing invalid JSON, which would cost the user all settings in the file. */
function checked(text: string): string {
  const tree = parseJsonTree(text);
  if (!tree.ok) throw new Error(`an edit broke a JSON text: ${tree.error.reason}`);
  return text;
}

function endOf({ value }: TreeMember): number {
  return value.offset + value.length;
}

interface Tail {
  readonly commaAt: number | undefined;
  /** Position after the comma and the last comment. */
  readonly end: number;
}

/** What follows a member: whitespace, comments and at most one comma. */
function tailOf(text: string, from: number, to: number): Tail {
  let [at, end] = [from, from];
  let commaAt: number | undefined;
  while (at < to) {
    if (text.startsWith('//', at)) end = at = at + (/^[^\r\n]*/.exec(text.slice(at, to))?.[0].length ?? 0);
    else if (text.startsWith('/*', at)) end = at = text.indexOf('*/', at) + 2;
    else {
      if (text[at] === ',') [commaAt, end] = [at, at + 1];
      at += 1;
    }
  }
  return { commaAt, end };
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStartOf(text, offset)))?.[0] ?? '';
}

function isOnOwnLine(text: string, offset: number): boolean {
  const start = lineStartOf(text, offset);
  return start > 0 && text.slice(start, offset).trim() === '';
}

function lineStartOf(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

function spanToRemove(
  text: string,
  start: number,
  end: number,
): { readonly offset: number; readonly length: number } {
  const blanksAfter = /^[ \t]*(?=[\r\n])/.exec(text.slice(end))?.[0];
  if (blanksAfter !== undefined && isOnOwnLine(text, start)) {
    const lineStart = lineStartOf(text, start);
    const offset = lineStart - (text.slice(0, lineStart).endsWith('\r\n') ? 2 : 1);
    return { offset, length: end + blanksAfter.length - offset };
  }
  const blanksBefore = /[ \t]*$/.exec(text.slice(lineStartOf(text, start), start))?.[0].length ?? 0;
  return { offset: start - blanksBefore, length: end - start + blanksBefore };
}

function linesOf(text: string): readonly string[] {
  return text.trimEnd().split(/\r\n|\n/);
}
