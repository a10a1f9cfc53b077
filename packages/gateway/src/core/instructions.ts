/** The instructions of one server. */
export interface Section {
  /** Name of the server. */
  readonly name: string;
  readonly text: string;
}

/** Text cut to a size limit. */
export interface Bounded {
  readonly text: string;
  readonly isCut: boolean;
}

const CUT = '[cut by Assay: the text is too long]';
const CUT_IN_ALL = '[cut by Assay: the texts of all servers are too long]';

/** The instructions of one server, at most this many bytes in UTF-8. A cut text ends with a notice. */
export function shortenInstructions(text: string, maxBytes: number): Bounded {
  const whole = text.toWellFormed();
  if (byteLength(whole) <= maxBytes) return { text: whole, isCut: false };
  return { text: `${beginning(whole, maxBytes - CUT.length - 1)}\n${CUT}`, isCut: true };
}

/**
 * Joins the instructions of several servers, each under a heading with its name. All lines except headings are quoted,
 * so no server can write in the name of another. The texts have at most this many bytes in total; beyond that, the
 * longest are cut.
 */
export function joinInstructions(sections: readonly Section[], maxBytes: number): Bounded | undefined {
  if (sections.length === 0) return undefined;
  const texts = sections.map(({ text }) => quoted(text));
  const share = fairShare(texts.map(byteLength), maxBytes);
  const isCut = texts.some((text) => byteLength(text) > share);
  const shown = texts.map((text) =>
    byteLength(text) <= share ? text : `${beginning(text, share - CUT_IN_ALL.length - 3)}\n> ${CUT_IN_ALL}`,
  );
  const parts = sections.map(({ name }, at) => `# ${headingOf(name)}\n\n${shown[at] ?? ''}`);
  return { text: [PREAMBLE, ...parts].join('\n\n'), isCut };
}

const PREAMBLE =
  'Each section below is the text of one server, under its name; each of its lines begins with ">". It does not apply to other servers.';

/** Everything that any reader treats as a line break: Unicode's line breaks and the ASCII separators. */
// eslint-disable-next-line no-control-regex -- matches them on purpose
const LINE_BREAK = /\r\n|[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/;

function quoted(text: string): string {
  return text
    .split(LINE_BREAK)
    .map((line) => `> ${line}`)
    .join('\n');
}

const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;

/** The name of a server as one line that is unique to it; the name may contain any character. */
function headingOf(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return JSON.stringify(name).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The largest per-text limit with which texts of these sizes fit into so many bytes. */
function fairShare(sizes: readonly number[], maxBytes: number): number {
  let left = maxBytes;
  const ascending = sizes.toSorted((one, other) => one - other);
  for (const [at, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - at));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

function byteLength(text: string): number {
  return ENCODER.encode(text).length;
}

/** As much of a text as fits into this many bytes, without splitting a character. */
function beginning(text: string, bytes: number): string {
  const room = new Uint8Array(Math.max(bytes, 0));
  const { written } = ENCODER.encodeInto(text, room);
  // A slice would keep the whole text in memory.
  return DECODER.decode(room.subarray(0, written));
}
