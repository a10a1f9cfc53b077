// What an error of the official SDKs says: a pure function.

export type Failure =
  /** The gateway says that the call was not carried out, or refuses it without a word on its effect. */
  | { readonly kind: 'refused'; readonly code: string }
  /** The gateway says that the effect is unknown. */
  | { readonly kind: 'unknown_effect'; readonly code: string }
  /** The connection or the balancer's one broke: the client itself knows that the effect is unknown. */
  | { readonly kind: 'cut' }
  /** No answer within the time limit of the client. */
  | { readonly kind: 'timed_out' }
  /** The session is gone: this client has to be started again. */
  | { readonly kind: 'session_lost'; readonly text: string }
  | { readonly kind: 'other'; readonly text: string };

interface ErrorData {
  readonly code?: string;
  readonly sent?: { readonly effect?: string };
}

const TIMED_OUT = -32001;
const CONNECTION_CLOSED = -32000;
const SESSION_CODES = ['SESSION_UNKNOWN', 'SESSION_MISSING'];
/** Errors after which the effect is always unknown; others say so in `sent`. */
const UNKNOWN_EFFECT_CODES = ['SERVER_MESSAGE_INVALID', 'INTERNAL', 'GATEWAY_ENDED'];

export function readFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: 'other', text: String(error) };
  const { code, data, message } = error as Error & { readonly code?: unknown; readonly data?: unknown };
  const status = statusOf(error);
  const given = dataIn(data) ?? dataIn(bodyIn(message)) ?? dataIn(bodyIn(textIn(data)));
  const shown = typeof code === 'string' ? code : (status ?? '');
  const text = `${error.name} ${String(shown)} ${message}`.slice(0, 500);
  if (given?.code !== undefined && SESSION_CODES.includes(given.code)) return { kind: 'session_lost', text };
  if (given !== undefined) {
    const { code: refusal = '', sent } = given;
    const isUnknown = sent?.effect === 'unknown' || UNKNOWN_EFFECT_CODES.includes(refusal);
    return { kind: isUnknown ? 'unknown_effect' : 'refused', code: refusal };
  }
  if (status === 404) return { kind: 'session_lost', text };
  if (status === 502 || status === 504) return { kind: 'cut' };
  if (status === 503) return { kind: 'refused', code: '503' };
  if (code === TIMED_OUT || code === 'REQUEST_TIMEOUT') return { kind: 'timed_out' };
  if (code === CONNECTION_CLOSED || code === 'CONNECTION_CLOSED') return { kind: 'cut' };
  if (error.name === 'TypeError' || error.name === 'AbortError' || code === 'SEND_FAILED')
    return { kind: 'cut' };
  return { kind: 'other', text };
}

/** SDK 1.x has the HTTP status as `code`, 2.x as `status`. */
function statusOf(error: Error): number | undefined {
  const { code, status } = error as Error & { readonly code?: unknown; readonly status?: unknown };
  const given = status ?? code;
  return typeof given === 'number' && given >= 400 && given < 600 ? given : undefined;
}

function dataIn(value: unknown): ErrorData | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if ('code' in value && typeof value.code === 'string') return value as ErrorData;
  const inner = 'error' in value ? (value.error as { readonly data?: unknown } | null)?.data : undefined;
  return inner === undefined ? undefined : dataIn(inner);
}

/** A JSON body that an SDK quotes in a message. */
function bodyIn(text: string): unknown {
  try {
    return JSON.parse(text.slice(Math.max(0, text.indexOf('{'))));
  } catch {
    return undefined;
  }
}

function textIn(data: unknown): string {
  const text = (data as { readonly text?: unknown } | undefined)?.text;
  return typeof text === 'string' ? text : '';
}
