import type { Cause } from '../../core/cause.ts';
import type { ToolFacts } from '../../core/hints/tool-facts.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatDifference } from '../../core/list-report.ts';
import { Slots } from '../../core/slots.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type {
  UpstreamRequest,
  Link,
  LinkEvents,
  OutputDifference,
  Reply,
  Skipped,
} from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { NEWEST_LEGACY_VERSION } from '@assay-mcp/protocol/eras';
import {
  LARGE_MESSAGE,
  createMessageReader,
  type Message,
  type NoMessage,
  readServerMessage,
} from '@assay-mcp/protocol/message';
import { findMember, readJsonString } from '@assay-mcp/protocol/spans';
import { runInTurns, waitForTurn } from '@assay-mcp/kit/turns';
import {
  type BuiltInSource,
  type BuiltInTool,
  type BuiltInTools,
  serializeDefinition,
} from './built-in-tool.ts';
import { BuiltInRun } from './built-in-run.ts';

export interface BuiltInLinkOptions {
  readonly server: string;
  readonly source: BuiltInSource;
  /** The tools read when the link was opened. */
  readonly first: BuiltInTools;
  readonly events: LinkEvents;
  /** Receives a warning for each unusable tool. */
  readonly log: Log;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  /** Makes the source follow a changed server entry. */
  readonly adopt?: ((spec: ServerSpec) => void) | undefined;
}

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
/** Number of definitions to write in one turn of the event loop. */
const TOOLS_IN_TURN = 500;
/** Maximum number of skipped tools of one list that are logged one by one. */
const MAX_LOGGED = 20;

/** A link to built-in tools; answers as an MCP server would. */
export class BuiltInLink implements Link {
  readonly era = 'legacy';
  readonly version: string = NEWEST_LEGACY_VERSION;
  readonly capabilities = { tools: { listChanged: true }, logging: {} };
  readonly instructions = undefined;
  readonly correlatesServerRequests = true;
  readonly asksCallers = true;
  readonly #options: BuiltInLinkOptions;
  readonly #runs = new Slots<BuiltInRun>();
  readonly #endListening: () => void;
  /** Served to the first list, to avoid a second read at startup. */
  #unread: BuiltInTools | undefined;
  #tools: ReadonlyMap<string, BuiltInTool>;
  #skipped: readonly Skipped[];
  #ending: Cause | undefined;
  /** Tools whose difference from their output schema was logged. */
  readonly #logged = new Set<string>();

  constructor(options: BuiltInLinkOptions) {
    const { source, first, events } = options;
    this.#options = options;
    this.#unread = first;
    this.#tools = byName(first);
    this.#skipped = [];
    this.#skip(first.skipped);
    const ends = [source.onChange(() => events.changed('tools')), source.onDrain?.(() => events.drained())];
    this.#endListening = () => ends.forEach((end) => end?.());
  }

  get unreadBytes(): number {
    return this.#options.source.unreadBytes ?? 0;
  }

  get skipped(): readonly Skipped[] {
    return this.#skipped;
  }

  get differences(): readonly OutputDifference[] {
    return [...this.#tools].flatMap(([tool, { difference }]) => {
      const where = difference?.();
      return where === undefined ? [] : [{ tool, where }];
    });
  }

  facts(tool: string): ToolFacts | undefined {
    return this.#tools.get(tool)?.facts;
  }

  send(request: UpstreamRequest): Promise<Result<Reply, Refusal>> {
    const { method } = request.message;
    const isOpen = request.cancellation?.isCancelled !== true && this.#ending === undefined;
    if (isOpen && method === 'tools/call') return this.#call(request);
    if (isOpen && method === 'tools/list') return this.#list(request);
    return Promise.resolve(this.#answer(request));
  }

  adopt(spec: ServerSpec): void {
    this.#options.adopt?.(spec);
  }

  /** Built-in tools ignore client notifications; a cancellation arrives through the call itself. */
  notify(): void {
    return;
  }

  async close(cause: Cause): Promise<void> {
    this.#ending ??= cause;
    this.#endListening();
    for (const run of this.#runs.all())
      run.end({ code: 'SERVER_ENDED', server: this.#options.server, cause });
    await this.#options.source.close();
  }

  #answer({ message, cancellation }: UpstreamRequest): Result<Reply, Refusal> {
    const { server } = this.#options;
    if (cancellation?.isCancelled === true) return err({ code: 'CANCELLED' });
    if (this.#ending !== undefined) return err({ code: 'SERVER_UNREACHED', server, cause: this.#ending });
    if (message.method === 'ping' || message.method === 'logging/setLevel')
      return replyOf({ result: '{}' }, server);
    return errorOf(
      { code: METHOD_NOT_FOUND, message: `${server} is not an MCP server and has only tools` },
      server,
    );
  }

  async #list({ timeoutMs }: UpstreamRequest): Promise<Result<Reply, Refusal>> {
    const { source, server } = this.#options;
    const unread = this.#unread;
    this.#unread = undefined;
    const limit = Number.isFinite(timeoutMs) ? AbortSignal.timeout(timeoutMs) : new AbortController().signal;
    const read = unread === undefined ? await source.read(limit) : ok(unread);
    if (!read.ok) return err({ code: 'SERVER_UNAVAILABLE', server, cause: read.error });
    this.#tools = byName(read.value);
    this.#skip(read.value.skipped);
    const tools = [...this.#tools.values()];
    const texts: string[] = [];
    for (let at = 0; at < tools.length; at += TOOLS_IN_TURN) {
      if (at > 0) await waitForTurn();
      texts.push(...tools.slice(at, at + TOOLS_IN_TURN).map(serializeDefinition));
    }
    const bytes = messageBytes({ result: `{"tools":[${texts.join(',')}]}` });
    return bytes.length > LARGE_MESSAGE
      ? replyIn(await runInTurns(createMessageReader(bytes, 'server')), server)
      : replyIn(readServerMessage(bytes), server);
  }

  /** Logs each skipped tool once, for operators who do not open the web pages. */
  #skip(skipped: readonly Skipped[]): void {
    const { server, log, mask } = this.#options;
    const known = new Set(this.#skipped.map((one) => JSON.stringify(one)));
    this.#skipped = skipped;
    const fresh = skipped.filter((one) => !known.has(JSON.stringify(one)));
    for (const { what, why } of fresh.slice(0, MAX_LOGGED))
      log.warn(`${JSON.stringify(what)} cannot be used: ${mask(why)}`, { server, code: 'TOOL_UNUSABLE' });
    if (fresh.length > MAX_LOGGED)
      log.warn('more tools of a source cannot be used', {
        server,
        code: 'TOOL_UNUSABLE',
        tools: fresh.length - MAX_LOGGED,
      });
  }

  /** Once per tool: what an API answers is not in the operator's hands. */
  #logDifference(tool: string, where: string | undefined): void {
    const { server, log } = this.#options;
    if (where === undefined || this.#logged.has(tool) || this.#logged.size >= MAX_LOGGED) return;
    this.#logged.add(tool);
    log.warn(formatDifference({ tool, where }), { server, tool, code: 'OUTPUT_DIFFERS' });
  }

  async #call(request: UpstreamRequest): Promise<Result<Reply, Refusal>> {
    const { server, mask } = this.#options;
    const { bytes, params } = request.message;
    const name = request.name ?? readJsonString(bytes, findMember(params, 'name')) ?? '';
    const tool = this.#tools.get(name);
    if (tool === undefined)
      return errorOf(
        { code: INVALID_PARAMS, message: `the tool ${JSON.stringify(name)} no longer exists` },
        server,
      );
    const known = tool.difference?.();
    const run = new BuiltInRun({ server, tool, request, mask });
    const id = this.#runs.add(run);
    if (id === undefined) run.end({ code: 'SERVER_UNAVAILABLE', server, cause: { code: 'REQUEST_LIMIT' } });
    const done = await run.done;
    if (id !== undefined) this.#runs.delete(id);
    if (known === undefined) this.#logDifference(name, tool.difference?.());
    return done.ok ? replyOf({ result: done.value }, server) : done;
  }
}

/** In source order; the first tool of a name wins. */
function byName({ tools }: BuiltInTools): ReadonlyMap<string, BuiltInTool> {
  const named = new Map<string, BuiltInTool>();
  for (const tool of tools) if (!named.has(tool.definition.name)) named.set(tool.definition.name, tool);
  return named;
}

interface ReplyError {
  readonly code: number;
  readonly message: string;
}

function errorOf(error: ReplyError, server: string): Result<Reply, Refusal> {
  return replyOf({ error: JSON.stringify(error) }, server);
}

/** JSON text of the result or of the error. */
type Outcome = { readonly result: string } | { readonly error: string };

function replyOf(outcome: Outcome, server: string): Result<Reply, Refusal> {
  return replyIn(readServerMessage(messageBytes(outcome)), server);
}

function messageBytes(outcome: Outcome): Buffer {
  const [member, text] = 'result' in outcome ? ['result', outcome.result] : ['error', outcome.error];
  return Buffer.from(`{"jsonrpc":"2.0","id":0,"${member}":${text}}`);
}

function replyIn(message: Message | NoMessage, server: string): Result<Reply, Refusal> {
  if (message.kind !== 'response')
    return err({
      code: 'SERVER_UNAVAILABLE',
      server,
      cause: { code: 'RESPONSE_INVALID', reason: 'its result is not JSON' },
    });
  return ok({ message, era: 'legacy' });
}
