import { Cancellation } from '@assay-mcp/kit/cancellation';
import { isSevereEnough } from '../../core/log-levels.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isHeldToReading } from '../../core/guarantee.ts';
import type { CompileSchema, SchemaFault } from '../../gateway/ports/compile-schema.ts';
import type { UpstreamRequest, ServerRequestAnswer } from '../../gateway/ports/link.ts';
import {
  isParsable,
  buildOwnRequest,
  readServerMessage,
  TOO_LARGE_TO_PARSE,
} from '@assay-mcp/protocol/message';
import { buildNotificationText } from '@assay-mcp/protocol/reply';
import { findMember, readRawValue, readJsonString } from '@assay-mcp/protocol/spans';
import { findProgressToken } from '@assay-mcp/protocol/translate';
import { tryCompileSchema } from './schema-check.ts';
import type { BuiltInArguments, BuiltInCall, BuiltInResult, BuiltInTool } from './built-in-tool.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

export interface BuiltInRunOptions {
  readonly server: string;
  readonly tool: BuiltInTool;
  readonly request: UpstreamRequest;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
}

/** One call of a built-in tool: its arguments, time limit and outcome. Only the first outcome counts. */
export class BuiltInRun implements BuiltInCall {
  /** JSON text of the result. */
  readonly done: Promise<Result<string, Refusal>>;
  readonly cancellation: Cancellation = new Cancellation();
  readonly isReadOnly: boolean;
  readonly #options: BuiltInRunOptions;
  readonly #timer: NodeJS.Timeout | undefined;
  /** From this time on, in ms, progress no longer restarts the time limit. */
  #progressEndsMs: number;
  readonly #progressMs: number;
  #settle: (outcome: Result<string, Refusal>) => void = () => undefined;
  #isOver = false;
  /** It has reported progress for longer than allowed. */
  #isOverdue = false;
  /** Open server requests to its client. */
  #asking = 0;
  readonly #onCancel = (): void => this.end({ code: 'CANCELLED' });

  constructor(options: BuiltInRunOptions) {
    this.#options = options;
    const { request, tool } = options;
    const { tool: cataloged } = request;
    this.isReadOnly = cataloged !== undefined && isHeldToReading(cataloged.hints);
    const limitMs = Math.min(tool.timeoutMs ?? request.timeoutMs, MAX_TIMER_MS);
    this.done = new Promise((resolve) => (this.#settle = resolve));
    this.#timer = setTimeout(() => this.#late(limitMs), limitMs);
    this.#progressMs = Math.min(limitMs * (PROGRESS_LIMITS - 1), PROGRESS_MOST_MS);
    this.#progressEndsMs = performance.now() + this.#progressMs;
    request.cancellation?.addListener(this.#onCancel);
    void this.#run();
  }

  end(refusal: Refusal): void {
    this.#end(err(refusal));
  }

  async #run(): Promise<void> {
    const { tool } = this.#options;
    try {
      const args = argumentsOf(this.#options.request);
      if (!args.ok) {
        this.#end(args);
        return;
      }
      const fault = checkOf(tool)(args.value.values);
      const result = fault === undefined ? await tool.run(args.value, this) : fieldError(tool, fault);
      this.#end(ok(resultText(result.isError === true ? masked(result, this.#options.mask) : result)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it failed without an error message';
      this.#end(
        err({
          code: 'SERVER_UNAVAILABLE',
          server: this.#options.server,
          cause: { code: 'TOOL_FAILED', reason },
        }),
      );
    }
  }

  progress(progress: number, total?: number, message?: string): void {
    if (this.#isOver) return;
    this.#isOverdue ||= performance.now() >= this.#progressEndsMs;
    if (!this.#isOverdue) this.#timer?.refresh();
    const token = findProgressToken(this.#options.request.message);
    const members = JSON.stringify({ progress, total, message }).slice(1);
    if (token !== undefined) this.#notify('notifications/progress', `{"progressToken":${token},${members}`);
  }

  log(level: string, data: unknown): void {
    const minLevel = this.#logLevel;
    if (minLevel !== undefined && isSevereEnough(level, minLevel))
      this.#notify('notifications/message', JSON.stringify({ level, logger: this.#name, data }));
  }

  get #name(): string {
    return this.#options.tool.definition.name;
  }

  /** Undefined if the client wants no log messages. */
  get #logLevel(): string | undefined {
    const { message, envelopeLogLevel } = this.#options.request;
    const meta = findMember(message.params, '_meta')?.object;
    return (
      readJsonString(message.bytes, findMember(meta, 'io.modelcontextprotocol/logLevel')) ?? envelopeLogLevel
    );
  }

  #notify(method: string, params: string): void {
    const note = readServerMessage(buildNotificationText(method, params));
    if (!this.#isOver && note.kind === 'notification')
      this.#options.request.onNotification?.(note, note.bytes);
  }

  ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): Promise<Result<Readonly<Record<string, unknown>>, string>> {
    const { onServerRequest } = this.#options.request;
    if (onServerRequest === undefined || this.#isOver)
      return Promise.resolve(err('Cannot ask: the client of this call does not support elicitation.'));
    const message = buildOwnRequest(method, params);
    this.#asking += 1;
    return new Promise((resolve) => {
      let isAnswered = false;
      const over = (answer: Result<Readonly<Record<string, unknown>>, string>): void => {
        if (isAnswered) return;
        isAnswered = true;
        this.#asking -= 1;
        this.#restart();
        resolve(answer);
      };
      this.cancellation.addListener(() => over(err('Cannot ask: the call has ended.')));
      onServerRequest({
        message,
        answer: (answer) => over(answerOf(answer)),
        progress: () => this.#timer?.refresh(),
        onWithdrawn: (listener) => {
          if (listener !== undefined) this.cancellation.addListener(listener);
        },
      });
    });
  }

  #restart(): void {
    if (this.#isOver) return;
    this.#timer?.refresh();
    this.#progressEndsMs = performance.now() + this.#progressMs;
  }

  #late(limitMs: number): void {
    if (this.#asking > 0) this.#restart();
    else {
      const wholeMs = this.#isOverdue ? limitMs + this.#progressMs : limitMs;
      this.end({ code: 'SERVER_TIMEOUT', server: this.#options.server, limitMs: wholeMs });
    }
  }

  #end(outcome: Result<string, Refusal>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.request.cancellation?.removeListener(this.#onCancel);
    this.#settle(outcome);
    // Stops remaining work and open server requests. A finished tool has nothing left to stop.
    if (!outcome.ok || this.#asking > 0) this.cancellation.cancel();
  }
}

/** A call that reports progress may run for 30 time limits, but at most for an hour plus one limit. */
const PROGRESS_LIMITS = 30;
const PROGRESS_MOST_MS = 60 * 60 * 1_000;

const NONE: Result<BuiltInArguments, Refusal> = ok({ values: {}, text: '{}' });

function argumentsOf({ message }: UpstreamRequest): Result<BuiltInArguments, Refusal> {
  const member = findMember(message.params, 'arguments');
  if (member === undefined) return NONE;
  if (!isParsable(message))
    return err({
      code: 'PARAMS_INVALID',
      field: 'params.arguments',
      reason: `they are ${TOO_LARGE_TO_PARSE}`,
    });
  const text = readRawValue(message.bytes, member);
  try {
    // The input schema rejects anything but an object.
    return ok({ values: JSON.parse(text) as Readonly<Record<string, unknown>>, text });
  } catch {
    return NONE;
  }
}

type Check = ReturnType<CompileSchema>;

const CHECKS = new WeakMap<BuiltInTool, Check>();

/** Compiled when a tool is first called: most never are. */
function checkOf(tool: BuiltInTool): Check {
  const known = CHECKS.get(tool);
  if (known !== undefined) return known;
  const compiled = tryCompileSchema(tool.definition.inputSchema);
  // If the schema cannot be compiled, the called API or function validates the arguments.
  const check: Check = compiled.ok ? compiled.value : () => undefined;
  CHECKS.set(tool, check);
  return check;
}

/** Tells the model how to correct its arguments. */
function fieldError({ definition }: BuiltInTool, { path, reason }: SchemaFault): BuiltInResult {
  const subject = path.length === 0 ? 'The arguments' : `The argument ${JSON.stringify(path.join('.'))}`;
  const names = Object.keys(definition.inputSchema['properties'] ?? {});
  const known = path.length > 0 || names.length === 0 ? '' : ` Its arguments: ${names.join(', ')}.`;
  const text = `${subject} of ${definition.name} cannot be used: ${reason}. Nothing was called.${known}`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** Our error texts name addresses and quote answers; a path or an error page may hold a key. */
function masked(result: BuiltInResult, mask: (text: string) => string): BuiltInResult {
  const content = result.content.map((part) =>
    typeof part['text'] === 'string' ? { ...part, text: mask(part['text']) } : part,
  );
  return { ...result, content };
}

function resultText(result: BuiltInResult): string {
  return JSON.stringify(result);
}

function answerOf({ kind, text }: ServerRequestAnswer): Result<Readonly<Record<string, unknown>>, string> {
  const value = JSON.parse(text) as Readonly<Record<string, unknown>>; // already parsed once at the edge
  if (kind === 'result') return ok(value);
  const { message } = value;
  return err(`The client did not answer: ${typeof message === 'string' ? message : 'it gave no reason'}`);
}
