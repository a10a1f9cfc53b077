import { readFile } from 'node:fs/promises';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { formatCause } from '../../packages/gateway/src/core/cause.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { openHttp } from '../../packages/gateway/src/adapters/sources/http/open-http.ts';
import type {
  BuiltInResult,
  BuiltInSource,
  BuiltInTool,
  BuiltInTools,
} from '../../packages/gateway/src/adapters/sources/built-in-tool.ts';
import { createReachRules } from '../../packages/gateway/src/core/reach-rules.ts';
import { watchFile } from '@assay-mcp/kit/platform/watch-file';
import { createDocumentParser } from '../../packages/gateway/src/adapters/sources/openapi/document-parser.ts';
import {
  type OpenapiOptions,
  openOpenapi,
} from '../../packages/gateway/src/adapters/sources/openapi/open-openapi.ts';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { endLater } from './endings.ts';
import { writeText } from './paths.ts';

/** As on a local machine, with the setting that lets documents name loopback addresses. */
const LOOPBACK_RULES = createReachRules({ isOnNetwork: false, allowLoopback: true, allowPrivate: false });

/** A document source, by default from a file; closed when the test file is done. */
export function openSource(document: string, more: Partial<OpenapiOptions> = {}): BuiltInSource {
  const http = openHttp({ rules: LOOPBACK_RULES });
  const source = openOpenapi({
    document,
    chosenBy: 'operator',
    headers: {},
    credentials: {},
    timeoutMs: 20_000,
    maxBytes: 1024 * 1024,
    outputValidation: 'warn',
    http,
    readFile: readBounded,
    parse: createDocumentParser(PLAIN_LAUNCHER),
    watch: watchFile,
    ...more,
  });
  endLater(async () => {
    await source.close();
    await http.close();
  });
  return source;
}

/** The source's current tools; fails if they cannot be read. */
export async function toolsOf(source: BuiltInSource, limitMs = 20_000): Promise<BuiltInTools> {
  const read = await source.read(AbortSignal.timeout(limitMs));
  if (!read.ok) throw new Error(formatCause(read.error));
  return read.value;
}

/** Tools of a document in its own file. */
export async function toolsIn(document: unknown, more: Partial<OpenapiOptions> = {}): Promise<BuiltInTools> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return toolsOf(openSource(writeText(text, 'api.json'), more));
}

/** Calls a tool with JSON arguments, as the gateway does. */
export function callTool(tool: BuiltInTool, args: unknown): Promise<BuiltInResult> {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  const call = {
    cancellation: Cancellation.following(AbortSignal.timeout(10_000)),
    progress: () => {},
    log: () => {},
    ask: () => Promise.resolve(err('Nobody is there to ask.')),
  };
  return tool.run({ values: JSON.parse(text) as Readonly<Record<string, unknown>>, text }, call);
}

/** The text of a result, and whether it is an error. */
export function textIn(result: BuiltInResult): string {
  const text = result.content.map((block) => String(block['text'])).join('\n');
  return result.isError === true ? `ERROR ${text}` : text;
}

export const readBounded: OpenapiOptions['readFile'] = async (path, maxBytes) => {
  try {
    const bytes = await readFile(path);
    return bytes.length > maxBytes ? err('is too large') : ok(bytes.toString('utf8'));
  } catch {
    return err('there is no such file');
  }
};
