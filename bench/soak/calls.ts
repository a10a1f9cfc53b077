// Requests with the check for a correct answer.
import type { Received } from '../pipe-client.ts';
import type { Chance } from './chance.ts';

/**
 * The role of a server: a steady one is left alone and must never fail, a fragile one is made to crash, and a removable one
 * is added and removed by config edits.
 */
export type Role = 'steady' | 'fragile' | 'removable';

export interface Call {
  readonly what: string;
  readonly role: Role;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Why the messages, the last of them without an error, are not a correct answer. */
  readonly flaw: (messages: readonly Received[]) => string | undefined;
  /** Code of the JSON-RPC error that is the correct answer. */
  readonly error?: number;
}

export type Verdict =
  | { readonly kind: 'right' }
  /** An acceptable error, as the server was down. */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'wrong'; readonly reason: string };

const DOWN = ['SERVER_ENDED', 'SERVER_UNAVAILABLE', 'SERVER_UNREACHED'];

const REFUSALS: Readonly<Record<Role, readonly string[]>> = {
  steady: [],
  fragile: DOWN,
  removable: [...DOWN, 'TOOL_UNKNOWN'],
};

export function checkAnswer(call: Call, messages: readonly Received[], id: number): Verdict {
  const last = messages.at(-1);
  if (last?.id !== id) return { kind: 'wrong', reason: `no response to ${String(id)}: ${shown(messages)}` };
  if (last.error !== undefined) {
    if (last.error.code === call.error) return { kind: 'right' };
    const code = (last.error.data as { code?: string } | undefined)?.code ?? String(last.error.code);
    if (REFUSALS[call.role].includes(code)) return { kind: 'refused', code };
    return { kind: 'wrong', reason: shown(last.error) };
  }
  const flaw = call.error === undefined ? call.flaw(messages) : 'a result instead of an error';
  return flaw === undefined ? { kind: 'right' } : { kind: 'wrong', reason: `${flaw}: ${shown(messages)}` };
}

/** Any request with a known answer. */
export function someCall(chance: Chance): Call {
  return chance.pick(KINDS)(chance);
}

const KINDS: readonly ((chance: Chance) => Call)[] = [
  (chance) => echoed('pipe_echo', 'steady', chance),
  (chance) => echoed('web_echo', 'steady', chance),
  ...['plain_echo', 'modern_echo', 'new_echo'].map(
    (tool) =>
      (chance: Chance): Call =>
        arguing(tool, 'steady', chance),
  ),
  ...['old_echo', 'sse_echo', 'victim_echo'].map(
    (tool) =>
      (chance: Chance): Call =>
        arguing(tool, 'fragile', chance),
  ),
  (chance) => echoed('removable_web_echo', 'removable', chance),
  ...['removable_a_echo', 'removable_b_echo'].map(
    (tool) =>
      (chance: Chance): Call =>
        arguing(tool, 'removable', chance),
  ),
  (chance) => {
    const bytes = chance.happens(0.05) ? 3_000_000 : chance.between(1, 300_000);
    return tool('plain_big', { bytes }, 'x'.repeat(bytes));
  },
  (chance) => {
    const ms = chance.between(1, 400);
    return tool('plain_sleep', { ms }, `slept ${String(ms)}`);
  },
  () => ({ ...tool('plain_refuses', {}, ''), error: -32042 }),
  () => tool('plain_fails', {}, 'It did not work.'),
  (chance) => stepping('talker_steps', chance),
  (chance) => stepping('new_steps', chance),
  (chance) => stepping('modern_steps', chance),
  ...(['tools/list', 'prompts/list', 'resources/list'] as const).map((method) => () => listing(method)),
  () => ({
    ...named('plain_greet', 'steady', 'prompts/get'),
    params: { name: 'plain_greet', arguments: { who: 'you' } },
    flaw: ([said]) => differs(said?.result?.['messages'], 'plain greets you'),
  }),
  () => ({
    ...named('plain://plain/readme', 'steady', 'resources/read'),
    params: { uri: 'plain://plain/readme' },
    flaw: ([said]) => differs(said?.result?.['contents'], 'plain has plain://plain/readme'),
  }),
];

/** A call of the bench's own echo, which returns only the message. */
function echoed(name: string, role: Role, chance: Chance): Call {
  const message = `${name} ${String(chance.between(0, 1e9))}`;
  return tool(name, { message }, message, role);
}

/** A call of a fixture's echo, which returns its arguments as JSON. */
function arguing(name: string, role: Role, chance: Chance): Call {
  const given = { word: `${name} ${String(chance.between(0, 1e9))}` };
  return { ...tool(name, given, JSON.stringify(given)), role };
}

/** Progress must carry the token of this call. */
function stepping(name: string, chance: Chance): Call {
  const progressToken = `${name}-${String(chance.between(0, 1e9))}`;
  const steps = chance.between(1, 5);
  const given = { steps, intervalMs: 20, who: progressToken };
  return {
    ...named(name, 'steady', 'tools/call'),
    params: { name, arguments: given, _meta: { progressToken } },
    flaw: (messages) => {
      const notes = messages.slice(0, -1) as readonly { params?: { progressToken?: unknown } }[];
      if (notes.some(({ params }) => params?.progressToken !== progressToken)) return "another's progress";
      return notes.length === steps ? undefined : `${String(notes.length)} of ${String(steps)} steps`;
    },
  };
}

function listing(method: 'tools/list' | 'prompts/list' | 'resources/list'): Call {
  const names = {
    'tools/list': ['pipe_echo', 'plain_echo', 'web_echo', 'victim_echo', 'crasher_crash'],
    'prompts/list': ['plain_greet'],
    'resources/list': ['plain://plain/readme'],
  }[method];
  return {
    ...named(method, 'steady', method),
    flaw: ([said]) => {
      const text = JSON.stringify(said?.result);
      const missing = names.filter((name) => !text.includes(`"${name}"`));
      return missing.length === 0 ? undefined : `${missing.join(', ')} missing in a list`;
    },
  };
}

export function tool(name: string, given: object, text: string, role: Role = 'steady'): Call {
  return {
    ...named(name, role, 'tools/call'),
    params: { name, arguments: given },
    flaw: ([said]) => {
      const [content] = (said?.result?.['content'] ?? []) as readonly { text?: string }[];
      return content?.text === text ? undefined : 'another text';
    },
  };
}

function named(what: string, role: Role, method: string): Call {
  return { what, role, method, params: {}, flaw: () => undefined };
}

function differs(part: unknown, text: string): string | undefined {
  return JSON.stringify(part ?? '').includes(text) ? undefined : 'another text';
}

function shown(value: object): string {
  return JSON.stringify(value).slice(0, 300);
}
