import type { BodyBudget, BodyReservation } from '../../core/body-budget.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { BodyLimits } from './route.ts';

/**
 * Size and depth limits of a body. The depth is limited because clients might not be able to parse deeper responses.
 */
const LIMITS: BodyLimits = { bytes: 1024 * 1024, depth: 64 };

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Reserves memory for the body of one request. */
export class BodyMemory {
  readonly #bodies: BodyBudget;
  readonly #subject: string;
  #reservation: BodyReservation | undefined;

  constructor(bodies: BodyBudget, subject: string) {
    this.#bodies = bodies;
    this.#subject = subject;
  }

  get refusal(): Refusal {
    return this.#bodies.refusal;
  }

  reserve(
    size: { readonly declaredBytes: number | undefined; readonly maxBytes: number },
    onEvicted: () => void,
  ): BodyReservation | undefined {
    this.#reservation = this.#bodies.reserve(this.#subject, size, onEvicted);
    return this.#reservation;
  }

  /** To be called when the request is answered. */
  release(): void {
    this.#reservation?.release();
  }
}

export interface JsonRequest {
  readonly request: Request;
  readonly memory: BodyMemory;
}

/**
 * Parses a JSON body. Errors: MEDIA_TYPE_UNKNOWN, BODY_TOO_LARGE, BODIES_FULL, BODY_NOT_JSON, or BODY_INVALID if it is
 * nested too deeply.
 */
export async function readJson(
  { request, memory }: JsonRequest,
  limits: BodyLimits = LIMITS,
): Promise<Result<unknown, Refusal>> {
  const type = request.headers.get('content-type') ?? '';
  if (!JSON_TYPE.test(type)) return err({ code: 'MEDIA_TYPE_UNKNOWN', type });
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') return err({ code: 'MEDIA_TYPE_UNKNOWN', type: `${type}, ${encoding}` });
  const bytes = await readBytes(request, memory, limits.bytes);
  return bytes.ok ? parsed(bytes.value, limits.depth) : bytes;
}

async function readBytes(
  { body, headers }: Request,
  memory: BodyMemory,
  limitBytes: number,
): Promise<Result<Uint8Array, Refusal>> {
  if (body === null) return ok(new Uint8Array());
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const refuse = async (refusal: Refusal): Promise<Result<never, Refusal>> => {
    memory.release();
    await discardRest(reader);
    return err(refusal);
  };
  const length = headers.get('content-length');
  const declaredBytes = length === null ? undefined : Number(length);
  if (declaredBytes !== undefined && declaredBytes > limitBytes)
    return refuse({ code: 'BODY_TOO_LARGE', limitBytes });
  const evicted = Promise.withResolvers<undefined>();
  const size = { declaredBytes, maxBytes: limitBytes };
  const reservation = memory.reserve(size, () => evicted.resolve(undefined));
  if (reservation === undefined) return refuse(memory.refusal);
  const chunks: Uint8Array[] = [];
  let arrivedBytes = 0;
  try {
    for (;;) {
      const read = await Promise.race([evicted.promise, reader.read()]);
      if (read === undefined) return await refuse(memory.refusal);
      if (read.done) break;
      arrivedBytes += read.value.length;
      if (arrivedBytes > limitBytes) return await refuse({ code: 'BODY_TOO_LARGE', limitBytes });
      if (!reservation.holds(arrivedBytes)) return await refuse(memory.refusal);
      chunks.push(read.value);
    }
  } catch {
    // The sender has disconnected and reads no answer.
    return err({ code: 'BODY_NOT_JSON', reason: 'it ends too early' });
  }
  reservation.finish();
  return ok(Buffer.concat(chunks));
}

/** How long in ms to keep reading an oversized body. */
const OVERHEAR_MS = 1_000;

/** If the connection closes while the client still sends, the response is lost. */
async function discardRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), OVERHEAR_MS);
  });
  const isRead = async (): Promise<boolean> => (await reader.read()).done;
  while (!(await Promise.race([isOver, isRead().catch(() => true)])));
  clearTimeout(timer);
}

function parsed(bytes: Uint8Array, maxDepth: number): Result<unknown, Refusal> {
  const wrong = (reason: string): Result<never, Refusal> => err({ code: 'BODY_NOT_JSON', reason });
  if (bytes.length === 0) return wrong('it is empty');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    const fieldError = {
      at: '',
      kind: 'invalid',
      reason: `it is nested more than ${maxDepth} deep`,
    } as const;
    return isDeep(value, maxDepth) ? err({ code: 'BODY_INVALID', fieldErrors: [fieldError] }) : ok(value);
  } catch (error) {
    return wrong(error instanceof SyntaxError ? positionOf(error) : 'it is not UTF-8');
  }
}

/** The parser's message quotes the body, which may contain a secret; its position does not. */
function positionOf({ message }: SyntaxError): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  return line === undefined || column === undefined
    ? 'it ends too early or is not JSON'
    : `line ${line}, column ${column} is not understood`;
}

/** Works level by level, since recursion could overflow the stack. */
function isDeep(value: unknown, maxDepth: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    level = level.flatMap((one): readonly unknown[] =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}
