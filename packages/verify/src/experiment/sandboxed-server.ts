import type { WithheldTool } from '@assay-mcp/kit/verification/report';
import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { sha256 } from '@assay-mcp/kit/digest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { findErrorLine } from '@assay-mcp/kit/stderr-error';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ChildOptions } from '@assay-mcp/kit/platform/child';
import { listHosts } from '../judge/contacts.ts';
import type { Answer } from '../judge/trial.ts';
import type {
  MissingMechanism,
  Observation,
  OpenSandbox,
  Sandbox,
  SandboxOptions,
} from '@assay-mcp/sandbox/observation';
import { ChildTransport } from './child-transport.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject;
  /** SHA-256 of the definition's canonical JSON. */
  readonly digest: string;
}

export type SandboxedServerFault =
  /** The server did not start or did not answer. `message`: its own error text, or the reason. */
  | { readonly code: 'SERVER_FAILED'; readonly message: string }
  /** This machine cannot confine a server. */
  | { readonly code: 'SANDBOX_UNAVAILABLE'; readonly missing: readonly MissingMechanism[] };

/** Options for opening a sandboxed server. */
export interface SandboxedServerOptions {
  readonly openSandbox: OpenSandbox;
  readonly sandbox: SandboxOptions;
  readonly server: ChildOptions;
  readonly startLimitMs: number;
  /** Cancels the start. */
  readonly signal: AbortSignal;
}

export interface CallLimits {
  readonly limitMs: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** Errors of validators list each fault. */
const MAX_TEXT = 3_000;
const MAX_PAGES = 100;

interface SandboxedServerParts {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly transport: ChildTransport;
  readonly tools: readonly ListedTool[];
  readonly openMs: number;
}

/** A server in its own sandbox, and a connected client that has listed its tools. */
export class SandboxedServer {
  readonly #sandbox: Sandbox;
  readonly #client: Client;
  readonly #transport: ChildTransport;
  readonly tools: readonly ListedTool[];
  /** How long the server took to its first list. On a slow machine, the rest of its start takes longer as well. */
  readonly openMs: number;

  private constructor({ sandbox, client, transport, tools, openMs }: SandboxedServerParts) {
    this.#sandbox = sandbox;
    this.#client = client;
    this.#transport = transport;
    this.tools = tools;
    this.openMs = openMs;
  }

  /** Starts the server in a new sandbox. SERVER_FAILED, SANDBOX_UNAVAILABLE */
  static async open({
    openSandbox,
    sandbox: options,
    server,
    startLimitMs,
    signal,
  }: SandboxedServerOptions): Promise<Result<SandboxedServer, SandboxedServerFault>> {
    let message: string | undefined;
    // Some legacy servers exit when probed for the modern era, so that is tried second.
    const limits = { timeout: startLimitMs, signal };
    for (const mode of ['legacy', 'auto'] as const) {
      if (signal.aborted) break;
      const opened = await openSandbox(options);
      if (!opened.ok) return err({ code: 'SANDBOX_UNAVAILABLE', missing: opened.error });
      const startedAtMs = performance.now();
      const transport = new ChildTransport(opened.value.launch(server));
      const client = new Client(
        { name: 'assay-verify', version: '1' },
        { capabilities: {}, versionNegotiation: { mode } },
      );
      try {
        await client.connect(transport, limits);
        const tools = await listTools(client, transport, limits);
        const openMs = performance.now() - startedAtMs;
        return ok(new SandboxedServer({ sandbox: opened.value, client, transport, tools, openMs }));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const hosts = await listRefused(opened.value);
        message ??= (findErrorLine(transport.stderr.split('\n')) ?? reason) + hosts;
        await opened.value.close();
        await transport.close();
      }
    }
    return err({ code: 'SERVER_FAILED', message: message ?? 'it was cancelled' });
  }

  get sandbox(): Sandbox {
    return this.#sandbox;
  }

  get serverVersion(): { readonly name: string; readonly version: string } {
    const { name = '', version = '' } = this.#client.getServerVersion() ?? {};
    return { name, version };
  }

  /** Listed tools that official clients reject. */
  get withheld(): readonly WithheldTool[] {
    return [...this.#transport.withheld].map(([name, reason]) => ({ name, reason }));
  }

  get hasEnded(): boolean {
    return this.#transport.end !== undefined;
  }

  /** Calls a tool. Also returns the result, for values that other tools may take. */
  async call(
    name: string,
    args: JsonObject,
    { limitMs, signal }: CallLimits,
  ): Promise<{ readonly answer: Answer; readonly result?: JsonObject }> {
    try {
      const limits = { timeout: limitMs, ...(signal !== undefined && { signal }) };
      const result = await this.#client.callTool({ name, arguments: { ...args } }, limits);
      const { _meta, ...rest } = result;
      const text = rest.content
        .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
        .join('\n');
      return {
        result: rest,
        answer: {
          kind: 'result',
          isError: rest.isError === true,
          digest: sha256(serializeCanonical(JSON.parse(JSON.stringify(rest)))),
          text: truncateText(text, MAX_TEXT),
        },
      };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const reason = this.hasEnded ? 'ended' : isTimeout(error) ? 'timeout' : 'error';
      const own = reason === 'ended' ? findErrorLine(this.#transport.stderr.split('\n')) : undefined;
      const text = own ?? message;
      return { answer: { kind: 'failed', reason, text: truncateText(text, MAX_TEXT) } };
    }
  }

  observe(): Promise<Observation> {
    return this.#sandbox.observe();
  }

  /** Asks the server to end, and waits for that. What it does then can still be observed. */
  finish(): Promise<void> {
    return this.#sandbox.finish();
  }

  /** Ends the server at once. What it would do if it were asked to end is for `finish`. */
  async close(): Promise<void> {
    await this.#sandbox.close();
    await this.#client.close();
  }
}

/** The hosts that a server asked for before it failed, as the end of a sentence. */
async function listRefused(sandbox: Sandbox): Promise<string> {
  const hosts = await sandbox.observe().then(
    (observation) => listHosts([observation]),
    () => [],
  );
  return hosts.length === 0 ? '' : `. It tried to reach ${hosts.join(', ')}; the sandbox has no network`;
}

async function listTools(
  client: Client,
  { digests }: ChildTransport,
  limits: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await client.listTools(cursor === undefined ? { cursor: undefined } : { cursor }, limits);
    for (const { name, description = '', inputSchema, annotations = {} } of answer.tools)
      tools.push({
        ...{ name, description, inputSchema, annotations: { ...annotations } },
        digest: digests.get(name) ?? '',
      });
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) break;
    cursor = answer.nextCursor;
  }
  return tools;
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}
