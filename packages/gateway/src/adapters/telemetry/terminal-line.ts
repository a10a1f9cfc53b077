import { styleText } from 'node:util';
import { toPrintable } from '@assay-mcp/kit/printable';
import { shorten } from '@assay-mcp/kit/shorten';

/** One entry of the log, as `openLog` writes it. */
type Entry = Readonly<Record<string, unknown>>;

/** Maximum number of characters of a text, and of a whole line without colours. */
const MAX_TEXT_LENGTH = 400;
const MAX_LINE_LENGTH = 1_000;

/** Fields for programs; for people they only repeat the message. */
const HIDDEN: ReadonlySet<string> = new Set([
  ...['level', 'time', 'msg', 'server', 'cause'],
  ...['causeCode', 'code', 'stream', 'state', 'era', 'nextStartMs', 'retryMs', 'failures', 'bytes'],
]);

const LEVELS: Readonly<Record<number, readonly [name: string, colour: 'dim' | 'cyan' | 'yellow' | 'red']>> = {
  10: ['trace', 'dim'],
  20: ['debug', 'dim'],
  30: ['info ', 'cyan'],
  40: ['warn ', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
};

/**
 * A log entry as one line for people: time, level, server, message, cause, and the other fields as `key=value`. The
 * only control characters are its own colours and line end.
 */
export function formatTerminalLine(json: string, hasColours: boolean): string {
  const entry = JSON.parse(json) as Entry;
  const { level, time, msg, server, cause } = entry;
  const [name, colour] = LEVELS[Number(level)] ?? [String(level), 'red'];
  const text = [
    ...(typeof server === 'string' ? [`${server}: `] : []),
    String(msg),
    ...(typeof cause === 'string' ? [`: ${cause}`] : []),
    ...Object.entries(entry).flatMap(([key, value]) =>
      HIDDEN.has(key) || value === undefined || value === null ? [] : [` ${key}=${formatLogField(value)}`],
    ),
  ].join('');
  const styled = (style: typeof colour, what: string): string =>
    hasColours ? styleText(style, what, { validateStream: false }) : what;
  return `${styled('dim', clockOf(time))} ${styled(colour, name)} ${toPrintable(shorten(onOneLine(text), MAX_LINE_LENGTH))}\n`;
}

function formatLogField(value: unknown): string {
  const text = typeof value === 'string' ? onOneLine(value) : JSON.stringify(value);
  const isPlain = typeof value !== 'string' || /^[^\s"=]+$/.test(text);
  return shorten(isPlain ? text : JSON.stringify(text), MAX_TEXT_LENGTH);
}

/** Stack traces and other texts of several lines. */
function onOneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ');
}

function clockOf(time: unknown): string {
  const date = new Date(typeof time === 'number' ? time : 0);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
