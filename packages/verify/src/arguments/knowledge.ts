import { isJsonObject, type JsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { isSecretValue } from './secret-values.ts';
import { kindOfTool, nounsOfTool, splitName, toSingular } from './tool-words.ts';

/** A value that a call revealed. */
export interface KnownValue {
  readonly value: string | number;
  /** The number of the first call whose result or arguments contained it. */
  readonly call: number;
}

/** A scalar of a result, with the name of the member that held it. */
export interface FoundValue {
  readonly noun: string;
  readonly member: string;
  readonly value: string | number;
}

const MAX_DEPTH = 5;
const MAX_VALUES = 20;
const MAX_MEMBERS = 40;
const MAX_NAMES = 500;
/** All values of one result. */
const MAX_FOUND = 400;
const MAX_TEXT = 20_000;
const MAX_STRING = 200;

/**
 * What the answers of a server say about values that its tools take. All of it comes from the server: it is bounded, and
 * used only as arguments of calls in sandboxes.
 */
export class Knowledge {
  /** By `noun member`, such as `task id`; the noun is empty for any. */
  readonly #values = new Map<string, KnownValue[]>();
  #preferredCall = 0;

  /** Takes the values in the result of a successful call, and those in its arguments if it creates something. */
  learn(tool: string, args: JsonObject, values: readonly FoundValue[], call: number): void {
    for (const found of values) this.#add(found, call);
    const kind = kindOfTool(tool);
    if (kind === 'creates' || kind === 'changes')
      for (const found of findInArguments(tool, args)) this.#add(found, call);
  }

  /** Values of this call and later ones come first: what former ones created may have been removed. */
  preferSince(call: number): void {
    this.#preferredCall = call;
  }

  /** Values for a parameter of a tool, best first. `isSure`: its noun or its exact name matched. */
  find(parameter: string, tool: string): readonly { readonly known: KnownValue; readonly isSure: boolean }[] {
    const own = splitName(parameter);
    const last = toSingular(own.at(-1) ?? '');
    const exact = [...own.slice(0, -1), last].join('_');
    const noun = toSingular(own.slice(0, -1).join('_'));
    const sure: string[] = [];
    const unsure: string[] = [];
    if (MEMBERS.has(last) && own.length > 1) {
      const keys = [...[noun, toSingular(own.at(-2) ?? '')].flatMap((one) => keysOf(one, last)), ` ${exact}`];
      // The `keep_id` of `merge_users` is the id of a user.
      const ofTool = nounsOfTool(tool).flatMap((one) => keysOf(one, last));
      sure.push(...(keys.some((key) => this.#values.has(key)) ? keys : ofTool));
      unsure.push(` ${last}`);
    } else if (MEMBERS.has(last)) {
      sure.push(...nounsOfTool(tool).flatMap((one) => keysOf(one, last)));
      unsure.push(` ${last}`);
    } else if (ENDS.has(last)) {
      // What is renamed, moved or copied exists, and what it becomes does not.
      const givesName = splitName(tool).some((word) => GIVES_NAME.has(word));
      const nouns = nounsOfTool(tool);
      if (!givesName) unsure.push(...nouns.flatMap((one) => keysOf(one, 'id')));
      else if (BEGINS.has(last)) sure.push(...nouns.flatMap((one) => keysOf(one, 'name')));
      unsure.push(' name', ' id');
    } else if (!FREE.has(last)) {
      sure.push(...[exact, last].flatMap((one) => NAMING.map((member) => `${one} ${member}`)), ` ${exact}`);
    }
    const collect = (keys: readonly string[], isSure: boolean): { known: KnownValue; isSure: boolean }[] =>
      keys
        .flatMap((key) => (this.#values.get(key) ?? []).map((known) => ({ known, isSure })))
        .sort((one, other) => Number(this.#isPreferred(other.known)) - Number(this.#isPreferred(one.known)));
    const all = [...collect(sure, true), ...collect(unsure, false)];
    // An id mostly has digits; a word beside one was read from a text for people.
    if (IDS.has(last)) all.sort((one, other) => Number(hasDigit(other)) - Number(hasDigit(one)));
    const values = all.map(({ known }) => known.value);
    return all.filter(({ known }, at) => values.indexOf(known.value) === at);
  }

  #isPreferred({ call }: KnownValue): boolean {
    return call >= this.#preferredCall;
  }

  #add({ noun, member, value }: FoundValue, call: number): void {
    if (isSecretValue(value, member)) return;
    for (const key of [`${noun} ${member}`, ` ${member}`]) {
      const known = this.#values.get(key) ?? [];
      const values =
        this.#preferredCall === 0
          ? known
          : known.filter((one) => one.value !== value || this.#isPreferred(one));
      if (values.length >= MAX_VALUES || values.some((one) => one.value === value)) continue;
      if (values.length === 0 && this.#values.size >= 2 * MAX_NAMES) continue;
      this.#values.set(key, [...values, { value, call }]);
    }
  }
}

/** Members that identify something. */
const MEMBERS: ReadonlySet<string> = new Set(
  'id name key title slug uuid path uri url number code label hash handle token identifier ref'.split(' '),
);
const IDS: ReadonlySet<string> = new Set(['id', 'uuid', 'identifier', 'number']);
/** The ends of a relation between things that were created before. */
export const ENDS: ReadonlySet<string> = new Set([
  'source',
  'target',
  'from',
  'to',
  'parent',
  'child',
  'subject',
  'object',
]);

/** Verbs of tools that give what exists a new name. */
const GIVES_NAME: ReadonlySet<string> = new Set(['rename', 'move', 'copy', 'duplicate']);
const BEGINS: ReadonlySet<string> = new Set(['source', 'from']);

function hasDigit({ known }: { readonly known: KnownValue }): boolean {
  return /\d/.test(String(known.value));
}

/** How a thing is named where a parameter has the name of the thing: `table`. */
const NAMING = ['', 'name', 'id', 'key', 'slug', 'title', 'path'];
/** Names of free text and of amounts, which no result of another tool has to provide. */
const FREE: ReadonlySet<string> = new Set(
  'content text body message description query search limit offset count page size depth format type mode status priority value data note comment reason prompt input output date time'.split(
    ' ',
  ),
);

function keysOf(noun: string, member: string): readonly string[] {
  const others =
    member === 'id' || member === 'key' || member === 'identifier'
      ? ['id', 'key', 'uuid', 'identifier', 'slug', '']
      : ['', 'title'];
  return [...new Set([member, ...others])].map((one) => `${noun} ${one}`);
}

/** The strings and numbers in a result, in their order. Those of two equal calls correspond by their positions. */
export function findValues(tool: string, result: JsonObject): readonly FoundValue[] {
  const found: FoundValue[] = [];
  const noun = nounsOfTool(tool)[0] ?? '';
  if (result['structuredContent'] !== undefined) walk(result['structuredContent'], noun, found);
  for (const block of Array.isArray(result['content']) ? result['content'].slice(0, MAX_VALUES) : []) {
    const text: unknown = isJsonObject(block) ? block['text'] : undefined;
    if (typeof text !== 'string') continue;
    const json = parseWithin(text);
    if (json === undefined)
      findInText(text.slice(0, MAX_TEXT), { noun, isList: kindOfTool(tool) === 'lists' }, found);
    else walk(json, noun, found);
  }
  return found.slice(0, MAX_FOUND);
}

function findInArguments(tool: string, args: JsonObject): readonly FoundValue[] {
  const found: FoundValue[] = [];
  walk(args, nounsOfTool(tool)[0] ?? '', found);
  return found;
}

/** JSON in a text, also with words before or after it. */
function parseWithin(text: string): unknown {
  if (text.length > 5 * MAX_TEXT) return undefined;
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  for (const part of [text, start < 0 ? '' : text.slice(start, end + 1)]) {
    const value = parseJson(part);
    if (typeof value === 'object' && value !== null) return value;
  }
  return undefined;
}

function walk(whole: unknown, noun: string, found: FoundValue[]): void {
  const visit = (value: unknown, at: { noun: string; member: string; depth: number }): void => {
    if (at.depth > MAX_DEPTH || found.length >= MAX_FOUND) return;
    if (Array.isArray(value)) {
      const things = at.member === '' ? at.noun : toSingular(at.member);
      for (const one of value.slice(0, MAX_VALUES))
        visit(one, { noun: things, member: '', depth: at.depth + 1 });
    } else if (isJsonObject(value)) {
      const inner = at.member === '' || GENERIC.has(at.member) ? at.noun : at.member;
      for (const [key, one] of Object.entries(value).slice(0, MAX_MEMBERS))
        visit(one, { noun: inner, member: splitName(key).join('_'), depth: at.depth + 1 });
    } else push(found, at, value);
  };
  visit(whole, { noun, member: '', depth: 0 });
}

/** Members that hold a result as a whole. */
const GENERIC: ReadonlySet<string> = new Set(
  'data result results items item list rows content response value values'.split(' '),
);

function push(found: FoundValue[], { noun, member }: { noun: string; member: string }, value: unknown): void {
  if (typeof value === 'number' ? !Number.isFinite(value) : typeof value !== 'string') return;
  const text = value as string | number; // checked above
  if (typeof text === 'string' && (text === '' || text.length > MAX_STRING)) return;
  found.push({ noun, member: toSingular(member), value: text });
}

const QUOTE = /[`"'*]/;

function stripQuotes(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && QUOTE.test(text.charAt(start))) start += 1;
  while (start < end && QUOTE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end).trim();
}

/** The first words of lines such as `HV-01 (orchard), 7 frames`, `welcome-42: queued` and of a table with tabs. */
function findRows(text: string, noun: string, found: FoundValue[]): void {
  const first = text
    .split('\n')
    .slice(0, MAX_VALUES)
    .flatMap((line) => /^\s{0,4}([\w./#@-]{1,60})(?=[:\t|,]|\s+[-–—(|:])/.exec(line)?.[1] ?? []);
  for (const value of first) {
    push(found, { noun, member: '' }, value);
    if (/\d/.test(value)) push(found, { noun, member: 'id' }, value);
  }
}

/** Lists, tables and `key: value` lines, as tools write them for people. */
function findInText(
  text: string,
  { noun, isList }: { readonly noun: string; readonly isList: boolean },
  found: FoundValue[],
): void {
  if (isList) findRows(text, noun, found);
  for (const whole of text.split('\n').slice(0, MAX_FOUND)) {
    const line = whole.slice(0, MAX_STRING + 50);
    const [, key = '', rest = ''] = /^\W*([A-Za-z][\w ]{0,30}?)\W{0,4}[:=](.*)$/.exec(line) ?? [];
    const value = stripQuotes(rest.trim());
    if (key !== '' && value.length <= MAX_STRING && !QUOTE.test(value))
      push(found, { noun, member: splitName(key).join('_') }, value);
    const item =
      /^\s*(?:[-*•]|\d+[.)])\s+[`"'*[]*([^\s`"'*\]:,(][^`"'*\]:,(\n]{0,100}?)\s*(?:[`"'*\]:,(]|$| - )/.exec(
        line,
      )?.[1];
    if (item !== undefined) push(found, { noun, member: '' }, item);
    for (const [, id = ''] of line.matchAll(
      /(?:\b|\P{ASCII})(?:id|ID|Id)\b["'`*\s]{0,4}[:=#(：]["'`*\s]{0,4}([\w-]{1,64})/gu,
    ))
      push(found, { noun, member: 'id' }, id);
    for (const [uuid] of line.matchAll(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi))
      push(found, { noun, member: 'id' }, uuid);
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // One name a line. A single word is mostly an answer such as `done`, unless the tool lists something.
  if (
    lines.length > (isList ? 0 : 1) &&
    lines.length <= MAX_VALUES &&
    lines.every((line) => /^\s*[\w./-]{1,100}\s*$/.test(line))
  )
    for (const line of lines) push(found, { noun, member: '' }, line.trim());
}
