import type { Plan } from './plan.ts';
import { FAULT, PAUSED } from './string-reader.ts';
import { readJsonString, type JsonObject, type Span } from './spans.ts';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, QUOTE, readKey } from './tokens.ts';
export { MAX_DEPTH, MAX_SERVER_DEPTH, type Fault } from './value-reader.ts';
import { MAX_TOKEN_LENGTH, ValueReader, type Fault, type ReaderOptions } from './value-reader.ts';

/** Used in place of a position: the scan is done, or an object ended without members. */
const DONE = -3;
const ENDED = -4;

export interface ScannerOptions extends ReaderOptions {
  readonly refusesTwice: boolean;
}

/** A member of an open object. */
interface OpenMember {
  readonly key: string;
  readonly keyStart: number;
  readonly start: number;
  end: number;
  object: JsonObject | undefined;
  readonly index: number;
  readonly previousEnd: number;
  nextStart: number;
}

/** An open object whose members are listed, or an open array whose elements are. */
interface Frame {
  readonly parent: Frame | undefined;
  readonly start: number;
  /** Undefined for an array. */
  readonly plan: Plan | undefined;
  readonly members: OpenMember[];
  /** Set for an array. */
  readonly elements: Span[] | undefined;
  size: number;
  /** The listed member whose value is being read. */
  member: OpenMember | undefined;
  /** The plan for that value, if its members are listed in turn. */
  inner: Plan | undefined;
  valueStart: number;
  previousEnd: number;
}

const NONE: readonly Span[] = [];

/** 1 for each byte that stands for itself in a key. */
const IS_PLAIN: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7e && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** The state of a scan: done, stopped at the given limit, or failed with `fault`. */
export type Progress = 'done' | 'more' | 'fault';

/** Lists the planned members of one JSON text and skips the rest without creating anything for it. */
export class Scanner {
  readonly #bytes: Buffer;
  readonly #refusesTwice: boolean;
  readonly #values: ValueReader;
  #frame: Frame | undefined;
  #at = 0;
  #maxListed = Infinity;
  /** The first ambiguous member, if those are refused; the scan continues. */
  twin: Fault | undefined;
  /** The ambiguous keys of the outermost object. */
  twinsAtRoot: Set<string> | undefined;
  root: JsonObject | undefined;
  elements: readonly Span[] = NONE;
  end = 0;

  constructor(bytes: Buffer, options: ScannerOptions) {
    this.#bytes = bytes;
    this.#refusesTwice = options.refusesTwice;
    this.#values = new ValueReader(bytes, options);
  }

  get fault(): Fault {
    return this.#values.fault;
  }

  /** Whether every string was validated rather than only searched for its end. */
  get isProven(): boolean {
    return this.#values.isProven;
  }

  /** Number of values skipped, which a parser would have to create. */
  get values(): number {
    return this.#values.values;
  }

  space(from: number): number {
    return this.#values.space(from);
  }

  /** Starts with an object whose members are listed, at most `max` of them; `from` is its opening brace. */
  beginObject(from: number, plan: Plan, max: number): void {
    this.#maxListed = max;
    this.#at = this.#opened(from, plan);
  }

  /** Starts with an array whose elements are listed; `from` is its opening bracket. */
  beginArray(from: number, max: number): void {
    this.#maxListed = max;
    this.#at = this.#opened(from, undefined);
  }

  /** Starts with any value, of which nothing is listed. */
  beginValue(from: number): void {
    this.#at = from;
  }

  /** Continues to the end, or until past the position `until`. */
  run(until: number): Progress {
    const values = this.#values;
    let at = this.#at;
    for (;;) {
      if (at === ENDED) at = this.#next(this.end);
      if (at < 0) return at === DONE ? 'done' : 'fault';
      at = values.skip(at, until);
      if (at === PAUSED) return 'more';
      if (at < 0) return 'fault';
      at = this.#next(at);
    }
  }

  /** Opens an object or array whose parts are listed; returns the position of its first value. */
  #opened(from: number, plan: Plan | undefined): number {
    if (!this.#values.enter(from)) return FAULT;
    const frame: Frame = {
      parent: this.#frame,
      start: from,
      plan,
      members: [],
      elements: plan === undefined ? [] : undefined,
      size: 0,
      member: undefined,
      inner: undefined,
      valueStart: -1,
      previousEnd: -1,
    };
    this.#frame = frame;
    const at = this.space(from + 1);
    if (this.#bytes[at] === (plan === undefined ? CLOSE_BRACKET : CLOSE_BRACE)) {
      this.end = this.#closed(frame, at);
      return ENDED;
    }
    return this.#entered(frame, at);
  }

  /** Enters the member or element at `from`; returns the start of its value, which is to be skipped. */
  #entered(frame: Frame, from: number): number {
    if (frame.plan === undefined) {
      frame.valueStart = from;
      return from;
    }
    const start = this.#listedKey(frame, frame.plan, from);
    if (start < 0 || frame.inner === undefined || this.#bytes[start] !== OPEN_BRACE) return start;
    return this.#opened(start, frame.inner);
  }

  /** After a value of the open frame: closes what ends here and returns the start of the next value. */
  #next(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    for (;;) {
      const frame = this.#frame;
      if (frame === undefined) {
        this.end = at;
        return DONE;
      }
      if (frame.member !== undefined) frame.member.end = at;
      frame.elements?.push({ start: frame.valueStart, end: at });
      frame.previousEnd = at;
      at = this.space(at);
      const byte = bytes[at];
      if (byte === COMMA) {
        if (frame.elements !== undefined && frame.elements.length >= this.#maxListed)
          return this.#values.refuse(`more than ${this.#maxListed} elements`, at);
        at = this.#entered(frame, this.space(at + 1));
        if (at !== ENDED) return at;
        at = this.end;
      } else if (byte === (frame.plan === undefined ? CLOSE_BRACKET : CLOSE_BRACE))
        at = this.#closed(frame, at);
      else return this.#values.fail(`expected "," or "${frame.plan === undefined ? ']' : '}'}"`, at);
    }
  }

  #closed(frame: Frame, at: number): number {
    const { start, members, size, parent, elements } = frame;
    this.#values.leave();
    this.#frame = parent;
    const object: JsonObject = { start, end: at + 1, members, size };
    if (parent?.member !== undefined) parent.member.object = object;
    if (parent === undefined) {
      if (frame.plan !== undefined) this.root = object;
      this.elements = elements ?? NONE;
    }
    return at + 1;
  }

  /** Skips `"key" :` and the space after it; adds the member to the list if it is planned. */
  #listedKey(frame: Frame, plan: Plan, from: number): number {
    const bytes = this.#bytes;
    if (bytes[from] !== QUOTE) return this.#values.fail('expected a member name in quotes', from);
    const last = Math.min(bytes.length, from + MAX_TOKEN_LENGTH);
    let to = from + 1;
    while (to < last && IS_PLAIN[bytes[to] ?? 0] === 1) to += 1;
    const isPlain = bytes[to] === QUOTE && to < last;
    const start = this.#values.valueOf(isPlain ? to + 1 : this.#values.name(from + 1));
    if (start < 0) return start;
    if (!isPlain) to = this.#values.nameEnd;
    const index = frame.size;
    if (frame.member !== undefined) frame.member.nextStart = from;
    frame.size += 1;
    frame.member = undefined;
    frame.inner = undefined;
    let planned = isPlain ? plan.find(bytes, from + 1, to) : undefined;
    let key = planned?.key;
    if (planned === undefined) {
      planned = isPlain ? plan.findFolded(bytes, from + 1, to) : plan.findDecoded(bytes, from + 1, to);
      if (planned === undefined && !plan.listsAll) return start;
    }
    if (frame.members.length >= this.#maxListed)
      return this.#values.refuse(`more than ${this.#maxListed} members`, from);
    key ??= this.#text(from, to, isPlain);
    if (planned !== undefined) {
      const isTwin = key !== planned.key || (this.#refusesTwice && isListed(frame, key));
      if (isTwin && this.#refusesTwice) this.#noteTwin(frame, planned.key, { key, at: from });
      if (isTwin) return start;
    }
    const { previousEnd } = frame;
    frame.member = {
      key,
      keyStart: from,
      start,
      end: -1,
      object: undefined,
      index,
      previousEnd,
      nextStart: -1,
    };
    frame.inner = planned?.inner;
    frame.members.push(frame.member);
    return start;
  }

  /** Notes a member that is listed already or differs from the planned key in case. */
  #noteTwin(frame: Frame, planned: string, { key, at }: { readonly key: string; readonly at: number }): void {
    const shown = JSON.stringify(key);
    const reason =
      key === planned
        ? `the member ${shown} occurs twice`
        : `the member ${shown} is read as ${JSON.stringify(planned)} by readers that ignore case`;
    this.twin ??= { reason, isJson: true, offset: at };
    if (frame.parent === undefined) (this.twinsAtRoot ??= new Set()).add(planned);
  }

  /** The text of the well-formed key that opens at `from`. */
  #text(from: number, to: number, isPlain: boolean): string {
    const bytes = this.#bytes;
    if (isPlain) return readKey(bytes, from + 1, to);
    return readJsonString(bytes, { start: from, end: to + 1 }) ?? '';
  }
}

/** Without a closure, as this runs for each member of each message. */
function isListed({ members }: Frame, key: string): boolean {
  for (const member of members) if (member.key === key) return true;
  return false;
}
