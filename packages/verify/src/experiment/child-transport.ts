import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { serializeCanonical, parseExactJson, isMembers } from '@assay-mcp/kit/canonical-json';
import { sha256 } from '@assay-mcp/kit/digest';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import type { Child, ProcessEnd } from '@assay-mcp/kit/platform/child';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import { findDefinitionFault } from './definition-fault.ts';

const MAX_LINE_BYTES = 32 * 1024 * 1024;
const MAX_STDERR_CHARS = 4_000;
const MAX_WITHHELD = 1_000;

/** MCP over the stdin and stdout of a process that a sandbox has started. */
export class ChildTransport implements Transport {
  readonly #child: Child;
  readonly #digests = new Map<string, string>();
  readonly #withheld = new Map<string, string>();
  #stderr = '';
  #end: ProcessEnd | undefined;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(child: Child) {
    this.#child = child;
  }

  /** The end of what the process wrote to stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  /** How the process ended. Undefined while it runs. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  /** SHA-256 of the canonical JSON of each listed definition, as sent on the wire. */
  get digests(): ReadonlyMap<string, string> {
    return this.#digests;
  }

  /** Listed tools that the client does not get, and why. */
  get withheld(): ReadonlyMap<string, string> {
    return this.#withheld;
  }

  start(): Promise<void> {
    const splitter = new LineSplitter(MAX_LINE_BYTES, {
      line: (line) => this.#receive(line.toString('utf8')),
      tooLong: () => this.onerror?.(new Error(`A line of stdout is longer than ${MAX_LINE_BYTES} bytes.`)),
    });
    this.#child.onOutput((chunk) => splitter.push(chunk));
    this.#child.onErrorOutput((chunk) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-MAX_STDERR_CHARS);
    });
    void this.#child.ended.then((end) => {
      this.#end = end;
      this.onclose?.();
    });
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#child.write([Buffer.from(`${JSON.stringify(message)}\n`)]);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#child.end();
  }

  #receive(text: string): void {
    const message = parseExactJson(text)?.value;
    if (!isMembers(message)) return;
    const { result } = message;
    const tools = isMembers(result) ? result['tools'] : undefined;
    for (const tool of Array.isArray(tools) ? tools : [])
      if (isMembers(tool) && typeof tool['name'] === 'string')
        this.#digests.set(tool['name'], sha256(serializeCanonical(tool)));
    // Raw JSON objects stand for long integers, which the client does not know.
    const received: unknown = JSON.parse(text);
    this.onmessage?.((Array.isArray(tools) ? this.#withoutFaulty(received) : received) as JSONRPCMessage); // An object; the client checks its members.
  }

  /** The client rejects a list as a whole. One bad tool must not cost the others. */
  #withoutFaulty(message: unknown): unknown {
    const result = isJsonObject(message) ? message['result'] : undefined;
    const tools = isJsonObject(result) ? result['tools'] : undefined;
    if (!isJsonObject(message) || !isJsonObject(result) || !Array.isArray(tools)) return message;
    const sound = tools.filter((tool: unknown, index) => {
      const reason = findDefinitionFault(tool);
      if (reason === undefined) return true;
      const name =
        isJsonObject(tool) && typeof tool['name'] === 'string' ? tool['name'] : `tool ${index + 1}`;
      if (this.#withheld.size < MAX_WITHHELD) this.#withheld.set(name, reason);
      return false;
    });
    return { ...message, result: { ...result, tools: sound } };
  }
}
