import type { JsonObject, Member } from './spans.ts';

/** Replaces the bytes from `start` up to `end` with `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The bytes with all edits applied; edits must not overlap. Everything between them is copied unchanged. */
export function splice(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const ordered = inOrder(edits);
  let size = bytes.length;
  for (const edit of ordered) size += Buffer.byteLength(edit.text) - (edit.end - edit.start);
  const out = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (const edit of ordered) {
    to += bytes.copy(out, to, from, edit.start);
    to += out.write(edit.text, to);
    from = edit.end;
  }
  bytes.copy(out, to, from);
  return out;
}

/** Up to this size in bytes, a copy costs less than writing one more piece. */
const SMALL = 16 * 1024;

/** The same in pieces: large parts reference the bytes instead of copying them, small ones are joined. */
export function spliceToPieces(bytes: Buffer, edits: readonly Edit[]): readonly Buffer[] {
  if (bytes.length <= SMALL) return [splice(bytes, edits)];
  const out: Buffer[] = [];
  let small: Buffer[] = [];
  const add = (part: Buffer): void => {
    if (part.length <= SMALL) {
      small.push(part);
      return;
    }
    if (small.length > 0) out.push(Buffer.concat(small));
    small = [];
    out.push(part);
  };
  let from = 0;
  for (const { start, end, text } of inOrder(edits)) {
    add(bytes.subarray(from, start));
    add(Buffer.from(text));
    from = end;
  }
  add(bytes.subarray(from));
  return small.length === 0 ? out : [...out, Buffer.concat(small)];
}

/** An insertion goes before a removal at the same position. Edits are few and mostly ordered, where `sort` is slow. */
function inOrder(edits: readonly Edit[]): readonly Edit[] {
  if (edits.length > FEW) return [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  const ordered: Edit[] = [];
  for (const edit of edits) {
    let at = ordered.length;
    for (
      let before = ordered[at - 1];
      before !== undefined && isAfter(before, edit);
      before = ordered[at - 1]
    ) {
      ordered[at] = before;
      at -= 1;
    }
    ordered[at] = edit;
  }
  return ordered;
}

const FEW = 8;

function isAfter(one: Edit, other: Edit): boolean {
  return one.start > other.start || (one.start === other.start && one.end > other.end);
}

/** Adds members at the front of an object. `text` is `"key":value`, or several of these separated by commas. */
export function buildInsertion(object: JsonObject, text: string): Edit {
  const at = object.start + 1;
  return { start: at, end: at, text: object.size === 0 ? text : `${text},` };
}

/** Whether an object has only members that match, all of them listed. */
export function holdsOnly({ members, size }: JsonObject, such: (member: Member) => boolean): boolean {
  return members.length === size && members.every(such);
}

/** Removes listed members from an object together with their commas; all other bytes are kept. */
export function buildRemovals(object: JsonObject, gone: (member: Member) => boolean): readonly Edit[] {
  const edits: Edit[] = [];
  for (const { index, keyStart, end, previousEnd, nextStart } of object.members.filter(gone)) {
    // After a kept member, the preceding comma goes too; before the first kept one, the following comma does.
    const isBehindKept = index > edits.length;
    edits.push(
      isBehindKept
        ? { start: previousEnd, end, text: '' }
        : { start: keyStart, end: nextStart < 0 ? end : nextStart, text: '' },
    );
  }
  return edits;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * The same JSON on one line, for line-based transports. Line breaks only occur between tokens; the length is unchanged.
 */
export function toOneLine(bytes: Buffer): Buffer {
  if (!bytes.includes(LINE_FEED) && !bytes.includes(CARRIAGE_RETURN)) return bytes;
  const line = Buffer.from(bytes);
  for (let at = 0; at < line.length; at += 1)
    if (line[at] === LINE_FEED || line[at] === CARRIAGE_RETURN) line[at] = 0x20;
  return line;
}
