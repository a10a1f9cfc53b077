import { setMember } from './parse-document.ts';

/**
 * A step in building a value from pieces, so that no step takes long: further members of the open object, further
 * elements of the open array, or the beginning or the end of a container that is too large for one piece.
 */
export type Piece =
  | { readonly members: Readonly<Record<string, unknown>> }
  | { readonly items: readonly unknown[] }
  | { readonly open: 'object' | 'array'; readonly key?: string }
  | { readonly close: true };

/** Approximate number of characters of a piece as JSON. A longer string is a piece of its own. */
const PIECE_CHARACTERS = 128 * 1024;

/** The pieces of `[value]`. Undefined if it has more than this many characters, as when aliases repeat long texts. */
export function splitDocument(value: unknown, maxCharacters: number): Iterable<Piece> | undefined {
  const large = new Set<object>();
  const root = [value];
  return sizeOf(root, large) > maxCharacters ? undefined : membersOf(root, large);
}

/** Collects the containers that are larger than a piece. */
function sizeOf(value: unknown, large: Set<object>): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 2;
  for (const [key, member] of Object.entries(value))
    size += (Array.isArray(value) ? 0 : key.length + 3) + sizeOf(member, large);
  if (size > PIECE_CHARACTERS) large.add(value);
  return size;
}

function* membersOf(container: object, large: Set<object>): Generator<Piece> {
  const isArray = Array.isArray(container);
  let entries: [string, unknown][] = [];
  let size = 0;
  const collected = (): Piece => {
    const piece = isArray
      ? { items: entries.map(([, member]) => member) }
      : { members: Object.fromEntries(entries) };
    entries = [];
    size = 0;
    return piece;
  };
  for (const [key, member] of Object.entries(container)) {
    if (typeof member === 'object' && member !== null && large.has(member as object)) {
      if (entries.length > 0) yield collected();
      yield { open: Array.isArray(member) ? 'array' : 'object', ...(!isArray && { key }) };
      yield* membersOf(member as object, large);
      yield { close: true };
      continue;
    }
    entries.push([key, member]);
    size += key.length + sizeOf(member, large);
    if (size > PIECE_CHARACTERS) yield collected();
  }
  if (entries.length > 0) yield collected();
}

/** Builds the value again. */
export class PieceReader {
  readonly #root: unknown[] = [];
  readonly #open: object[] = [this.#root];

  take(piece: Piece): void {
    const container = this.#open.at(-1);
    if (container === undefined) throw new Error('A piece follows the end of the value');
    if ('close' in piece) this.#open.pop();
    else if ('open' in piece) {
      const fresh = piece.open === 'array' ? [] : {};
      if (Array.isArray(container)) container.push(fresh);
      else setMember(container, piece.key ?? '', fresh);
      this.#open.push(fresh);
    } else if ('items' in piece && Array.isArray(container))
      for (const item of piece.items) container.push(item);
    else if ('members' in piece)
      for (const [key, member] of Object.entries(piece.members)) setMember(container, key, member);
  }

  get value(): unknown {
    return this.#root[0];
  }
}
