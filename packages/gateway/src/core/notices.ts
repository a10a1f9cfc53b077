import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isLoopbackName } from './auth-settings.ts';

/** Topics of notices to operators; each has a setting that says where they are sent. */
export const NOTICE_SETTINGS = {
  approvals: 'approvals.notify',
  overrides: 'overrides.notify',
  servers: 'servers.notify',
} as const;

export type NoticeTopic = keyof typeof NOTICE_SETTINGS;

export const NOTICE_TOPICS: readonly NoticeTopic[] = Object.keys(NOTICE_SETTINGS) as readonly NoticeTopic[]; // its own keys

/** How a notice is sent: JSON by POST to a URL, or on stdin of a program that is run without a shell. */
export type Notifier =
  | { readonly kind: 'webhook'; readonly url: string }
  | { readonly kind: 'command'; readonly argv: readonly [string, ...string[]] };

/** What a notice is about: a call that waits, a tool or a server. Names are texts of peers. */
export interface NoticeItem {
  /** The same as long as it is the same event. */
  readonly id: string;
  readonly server: string;
  /** Absent for a server. */
  readonly tool?: string | undefined;
}

/** What is sent. No arguments, no reasons, no secrets. */
export interface Notice {
  readonly kind: 'approvals_waiting' | 'overrides_suspended' | 'servers_down' | 'servers_recovered' | 'test';
  readonly count: number;
  /** Namespaced names. */
  readonly tools: readonly string[];
  readonly servers: readonly string[];
  /** Servers that are back, in a notice of `servers_down`. */
  readonly recovered?: readonly string[];
  /** One line; webhooks of chats show it. */
  readonly text: string;
  /** The page that shows it. */
  readonly url?: string;
  readonly at: string;
}

const MAX_LENGTH = 1_024;
const MAX_WORDS = 32;
const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 80;

/** Reads the value of a setting. Undefined for an empty one. The error is the end of a sentence. */
export function parseNotifier(text: string): Result<Notifier | undefined, string> {
  const given = text.trim();
  if (given === '') return ok(undefined);
  if (given.length > MAX_LENGTH) return err(`it must have at most ${MAX_LENGTH} characters`);
  if (/^https?:/i.test(given)) return readWebhook(given);
  if (given.startsWith('[')) return readArguments(given);
  // Whoever writes these expects a shell.
  if (/["'`$|&;<>(){}*?\\]/.test(given.replace(/^[A-Za-z]:\\/, '')) || /\p{C}/u.test(given))
    return err('it is not read by a shell; write the program and its arguments as a JSON array of strings');
  const [program = '', ...rest] = given.split(/\s+/);
  return ok({ kind: 'command', argv: [program, ...rest] });
}

export function findNotifierFault(text: string): string | undefined {
  const parsed = parseNotifier(text);
  return parsed.ok ? undefined : parsed.error;
}

function readWebhook(text: string): Result<Notifier, string> {
  const url = URL.parse(text);
  if (url === null || /[\s\\"]/.test(text)) return err('it must be a URL');
  if (url.username !== '' || url.password !== '') return err('it must not contain a user name or password');
  const isLoopback = isLoopbackName(url.hostname);
  return url.protocol === 'https:' || isLoopback
    ? ok({ kind: 'webhook', url: text })
    : err('it must be an https URL; http is allowed only on loopback');
}

function readArguments(text: string): Result<Notifier, string> {
  const read = parseJson(text);
  const words = Array.isArray(read) && !isJsonObject(read) ? (read as readonly unknown[]) : undefined;
  const isFit = (word: unknown): word is string => typeof word === 'string' && !word.includes('\0');
  const [program, ...rest] = words ?? [];
  if (!isFit(program) || program === '' || !rest.every(isFit) || rest.length >= MAX_WORDS)
    return err(`it must be a JSON array of 1 to ${MAX_WORDS} strings, the first of which names a program`);
  return ok({ kind: 'command', argv: [program, ...rest] });
}

/** How a notifier is named where its address may be secret. */
export function formatNotifier(notifier: Notifier): string {
  return notifier.kind === 'webhook' ? new URL(notifier.url).origin : notifier.argv[0];
}

export interface NoticeParts {
  readonly items: readonly NoticeItem[];
  readonly recovered?: readonly string[];
  readonly pagesUrl: string | undefined;
  readonly nowMs: number;
  /** Masks known secrets. */
  readonly mask: (text: string) => string;
}

export function buildNotice(topic: NoticeTopic, parts: NoticeParts): Notice {
  const { items, pagesUrl, nowMs, mask } = parts;
  const clean = (name: string): string => cleanName(mask(name));
  const pickNames = (names: readonly string[]): readonly string[] =>
    [...new Set(names.map(clean))].slice(0, MAX_NAMES);
  const recovered = pickNames(parts.recovered ?? []);
  const servers = pickNames(items.map(({ server }) => server));
  const tools = pickNames(items.flatMap(({ tool }) => (tool === undefined ? [] : [tool])));
  const { kind, path, text } = TOPICS[topic];
  const url = pagesUrl === undefined ? undefined : `${pagesUrl}/admin/${path}`;
  const line = text(items.length, topic === 'servers' ? servers : tools, recovered);
  return {
    kind: items.length === 0 && recovered.length > 0 ? 'servers_recovered' : kind,
    count: items.length,
    tools,
    servers,
    ...(recovered.length > 0 && { recovered }),
    // A chat shows the text alone.
    text: url === undefined ? line : `${line} ${url}`,
    ...(url !== undefined && { url }),
    at: new Date(nowMs).toISOString(),
  };
}

export function buildTestNotice(topic: NoticeTopic, pagesUrl: string | undefined, nowMs: number): Notice {
  return {
    kind: 'test',
    count: 0,
    tools: [],
    servers: [],
    text: `Assay: a test of ${NOTICE_SETTINGS[topic]}.`,
    ...(pagesUrl !== undefined && { url: `${pagesUrl}/admin/${TOPICS[topic].path}` }),
    at: new Date(nowMs).toISOString(),
  };
}

interface TopicFacts {
  readonly kind: Notice['kind'];
  readonly path: string;
  readonly text: (count: number, names: readonly string[], recovered: readonly string[]) => string;
}

const TOPICS: Readonly<Record<NoticeTopic, TopicFacts>> = {
  approvals: {
    kind: 'approvals_waiting',
    path: 'approvals',
    text: (count, names) =>
      `Assay: ${count === 1 ? '1 call waits' : `${count} calls wait`} for approval: ${names.join(', ')}.`,
  },
  overrides: {
    kind: 'overrides_suspended',
    path: 'tools?drift=any',
    text: (count, names) =>
      `Assay: overrides of ${count === 1 ? '1 tool are' : `${count} tools are`} suspended until the changed definition is reviewed: ${names.join(', ')}.`,
  },
  servers: {
    kind: 'servers_down',
    path: 'servers',
    text: (count, names, recovered) =>
      [
        ...(count > 0 ? [`Assay: down for 5 minutes: ${names.join(', ')}.`] : []),
        ...(recovered.length > 0 ? [`Assay: up again: ${recovered.join(', ')}.`] : []),
      ].join(' '),
  },
};

/**
 * A peer's name in a chat: letters, digits and a few signs remain, so that it can neither mention people nor format,
 * link or fill the message.
 */
export function cleanName(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).replace(/[^\p{L}\p{N}._ -]/gu, '?');
}
