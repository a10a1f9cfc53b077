import { Command } from 'commander';
import { basename, resolve } from 'node:path';
import { formatCount } from '@assay-mcp/kit/counted';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Gateway } from '../../api/server.ts';
import type { Tool } from '../../api/tool.ts';
import type { ConfigEntry } from '../../gateway/ports/config-entries.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import { print, printError, printJson, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal, formatHints } from './output.ts';
import { parsePairs } from '@assay-mcp/kit/platform/terminal/options';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, withApi } from './with-api.ts';

/** `assay openapi` */
export function openapiCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('openapi')
      .argument('<document>', 'path or URL of an OpenAPI 3.0 or 3.1 document; with --remove, the source name')
      .description('create or update tools from an OpenAPI document')
      .option('--name <name>', 'name of the source (default: file name or host)')
      .option('--base-url <url>', 'base URL of the API, instead of the one in the document')
      .option('--header <name: value...>', 'header to send with each request')
      .option('--credential <scheme=value...>', 'token or key for a security scheme; user:password for basic')
      .option('--include <pattern...>', 'only these operations: tag:pets, "/pets/*" or "GET /*"')
      .option('--exclude <pattern...>', 'all operations but these')
      .option(
        '--trust',
        'trust the hints in the document (x-mcp and all methods), even if they lower caution',
      )
      .option('--remove', 'remove the source and its tools')
      .action(async (document: string, options: OpenapiOptions) =>
        done(await importOpenapi(runtime, document, options)),
      ),
  ).option('--json', 'print JSON');
}

interface OpenapiOptions extends JsonOptions {
  readonly name?: string;
  readonly baseUrl?: string;
  readonly header?: readonly string[];
  readonly credential?: readonly string[];
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly trust?: boolean;
  readonly remove?: boolean;
}

/** `assay openapi`: makes tools from a document, or rereads a known one. Prints what was made and what was not. */
async function importOpenapi(runtime: Runtime, document: string, options: OpenapiOptions): Promise<number> {
  if (options.remove === true) return removeOpenapi(runtime, document, options);
  const entry = entryOf(document, options);
  if (!entry.ok) return printRefusal(entry.error);
  const name = options.name ?? nameOf(document);
  return withApi(runtime, options, async (api) => {
    const { trust } = options;
    const body = {
      ...entry.value,
      ...{ name, isNameGiven: options.name !== undefined },
      ...(trust !== undefined && { trust }),
    };
    const done = await withProgress(`reading ${document}`, () =>
      api.send<Gateway>({ method: 'POST', path: '/openapi', body }),
    );
    if (!done.ok) return done;
    const tools = await listAll<Tool>(api, '/tools', { name: 'tools', query: { server: name } });
    if (!tools.ok) return tools;
    const source = await api.send<Gateway>({ method: 'GET', path: apiPath`/gateways/${name}` });
    if (source.ok) printSource(source.value, tools.value, options);
    return source;
  });
}

function printSource(source: Gateway, tools: readonly Tool[], { json }: OpenapiOptions): void {
  const { skipped = [] } = source;
  if (json === true) {
    printJson({ source, tools, skipped });
    return;
  }
  if (tools.length > 0)
    print(
      formatTable(
        ['TOOL', 'HINTS', 'TITLE'],
        tools.map((tool) => [tool.name, formatHints(tool), tool.title ?? '']),
      ),
    );
  print(`${source.name}: ${formatCount(tools.length, 'tool')} made, ${skipped.length} skipped.`);
  for (const { what, why } of skipped) printError(`skipped ${toPrintable(what)}: ${toPrintable(why)}`);
}

function removeOpenapi(runtime: Runtime, name: string, options: OpenapiOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const removed = await api.send({ method: 'DELETE', path: apiPath`/gateways/${name}` });
    if (removed.ok)
      if (options.json === true) printJson({ removed: name });
      else print(`Removed ${toPrintable(name)}.`);
    return removed;
  });
}

function entryOf(document: string, options: OpenapiOptions): Result<ConfigEntry, Refusal> {
  const headers = parsePairs('--header', options.header ?? [], ':');
  if (!headers.ok) return headers;
  const credentials = parsePairs('--credential', options.credential ?? [], '=');
  if (!credentials.ok) return credentials;
  const { include, exclude } = options;
  const isUrl = /^https?:\/\//i.test(document);
  return ok({
    openapi: isUrl ? document : resolve(process.cwd(), document),
    ...(options.baseUrl !== undefined && { baseUrl: options.baseUrl }),
    ...(options.header !== undefined && { headers: headers.value }),
    ...(options.credential !== undefined && { credentials: credentials.value }),
    ...((include ?? exclude) !== undefined && { operations: { include, exclude } }),
  });
}

/** `https://api.example.com/v1/petstore.json` becomes `petstore`. */
function nameOf(document: string): string {
  const path = URL.parse(document)?.pathname ?? document;
  const [stem = ''] = basename(path).split('.');
  const clean = stem
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return /^(?:openapi|swagger|api|spec|)$/.test(clean) ? (URL.parse(document)?.hostname ?? 'api') : clean;
}
