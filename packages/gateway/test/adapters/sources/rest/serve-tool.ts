import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { type HttpPort, openHttp } from '../../../../src/adapters/sources/http/open-http.ts';
import { FilterProcesses } from '../../../../src/adapters/sources/http/filter-processes.ts';
import type { BuiltInResult, BuiltInTool } from '../../../../src/adapters/sources/built-in-tool.ts';
import { createRestTool } from '../../../../src/adapters/sources/rest/rest-tool.ts';
import { createReachRules } from '../../../../src/core/reach-rules.ts';
import { readRestTool } from '../../../../src/core/sources/read-rest-tool.ts';
import { endLater } from '../../../../../../test/support/endings.ts';
import { bodyOf, serveWeb } from '../../../../../../test/support/web-server.ts';

export interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Echo {
  readonly origin: string;
  /** All requests so far. */
  readonly seen: readonly Seen[];
  /** A tool with the given entry; `url` is appended to the origin. */
  tool(entry: Readonly<Record<string, unknown>>): BuiltInTool;
}

/** A server that records its requests, and the tools that send them. */
export async function serveTool(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('{}'),
): Promise<Echo> {
  const seen: Seen[] = [];
  const port = await serveWeb((request, response) => {
    void bodyOf(request).then((body) => {
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      answer(request, response);
    });
  });
  const origin = `http://127.0.0.1:${port}`;
  const http = loopbackHttp();
  const tool = (entry: Readonly<Record<string, unknown>>): BuiltInTool =>
    made({ ...entry, url: origin + String(entry['url'] ?? '/') }, http);
  return { origin, seen, tool };
}

export function loopbackHttp(): HttpPort {
  const http = openHttp({
    rules: createReachRules({ isOnNetwork: false, allowLoopback: true, allowPrivate: false }),
  });
  endLater(() => http.close());
  return http;
}

let opened: FilterProcesses | undefined;

/** The filter processes of the current test file. Test files share modules, but each closes what it opened. */
export function filters(): FilterProcesses {
  if (opened !== undefined) return opened;
  const mine = new FilterProcesses(PLAIN_LAUNCHER);
  opened = mine;
  endLater(async () => {
    opened = undefined;
    await mine.close();
  });
  return mine;
}

/** Throws if the entry is not a valid tool. */
export function made(entry: Readonly<Record<string, unknown>>, http: HttpPort): BuiltInTool {
  const spec = readRestTool('tool', entry);
  if (!spec.ok) throw new Error(JSON.stringify(spec.error));
  const tool = createRestTool(spec.value, { http, filters: filters() });
  if (!tool.ok) throw new Error(tool.error);
  return tool.value;
}

/** Calls a tool with the arguments as a client wrote them. */
export function call(tool: BuiltInTool, text: string, cancellation?: Cancellation): Promise<BuiltInResult> {
  const values = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return tool.run(
    { values, text },
    {
      cancellation: cancellation ?? Cancellation.following(AbortSignal.timeout(10_000)),
      progress: () => {},
      log: () => {},
      ask: async () => ({ ok: false, error: 'Nobody answers.' }),
    },
  );
}

/** The text of a result, prefixed with `error: ` for an error. */
export function shown({ content, isError }: BuiltInResult): string {
  return `${isError === true ? 'error: ' : ''}${content.map((block) => String(block['text'])).join('|')}`;
}
