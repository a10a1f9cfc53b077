import { Command, InvalidArgumentError } from 'commander';
import { withConfig, type Done } from './common-options.ts';
import type { AddFunctionsOptions } from './functions.ts';
import type { OpenapiOptions } from './openapi.ts';
import type { AddRestOptions } from './rest.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** The commands that make tools without an MCP server. Each loads its module only when run. */
export function sourceCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    withConfig(openapiCommand(runtime, done)).option('--json', 'print JSON'),
    group('rest', 'create tools from HTTP requests', restCommands(runtime, done)),
    group(
      'function',
      'create tools from the exports of JavaScript and TypeScript modules',
      functionCommands(runtime, done),
    ),
  ];
}

function group(name: string, about: string, commands: readonly Command[]): Command {
  const command = new Command(name).description(about);
  for (const one of commands) command.addCommand(withConfig(one).option('--json', 'print JSON'));
  return command;
}

function openapiCommand(runtime: Runtime, done: Done): Command {
  return new Command('openapi')
    .argument('<document>', 'path or URL of an OpenAPI 3.0 or 3.1 document; with --remove, the source name')
    .description('create or update tools from an OpenAPI document')
    .option('--name <name>', 'name of the source (default: file name or host)')
    .option('--base-url <url>', 'base URL of the API, instead of the one in the document')
    .option('--header <name: value...>', 'header to send with each request')
    .option('--credential <scheme=value...>', 'token or key for a security scheme; user:password for basic')
    .option('--include <pattern...>', 'only these operations: tag:pets, "/pets/*" or "GET /*"')
    .option('--exclude <pattern...>', 'all operations but these')
    .option('--trust', 'trust the hints in the document (x-mcp and all methods), even if they lower caution')
    .option('--remove', 'remove the source and its tools')
    .action(async (document: string, options: OpenapiOptions) => {
      const { importOpenapi } = await import('./openapi.ts');
      done(await importOpenapi(runtime, document, options));
    });
}

function restCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('add')
      .argument('<name>')
      .argument('<url>', 'absolute URL; {argument} in its path or query is replaced by that argument')
      .description('create a tool from an HTTP request')
      .option('--method <method>', 'HTTP method (default: POST, without deriving hints from it)')
      .option('--title <text>')
      .option('--description <text>', 'description for the model')
      .option('--header <name: value...>', 'header to send with each request')
      .option('--bearer <token>', 'bearer token to send in the Authorization header')
      .option('--entry <json>', 'all other fields, as in the config file')
      .action(async (name: string, url: string, options: AddRestOptions) => {
        const { addRestTool } = await import('./rest.ts');
        done(await addRestTool(runtime, { name, url, options }));
      }),
    new Command('list').description('list your tools').action(async (options: JsonOptions) => {
      const { listRestTools } = await import('./rest.ts');
      done(await listRestTools(runtime, options));
    }),
    new Command('remove')
      .argument('<name>')
      .description('remove a tool')
      .action(async (name: string, options: JsonOptions) => {
        const { removeRestTool } = await import('./rest.ts');
        done(await removeRestTool(runtime, name, options));
      }),
  ];
}

function functionCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('add')
      .argument('<file>', 'a .js, .mjs or .ts module')
      .description('create tools from the exports of a module')
      .option('--env <NAME=value...>', 'environment variables for its process')
      .option('--read <path...>', 'paths it may read, in addition to its own folder')
      .option('--write <path...>', 'paths it may write')
      .option('--memory <MB>', 'memory limit of its process', whole)
      .action(async (file: string, options: AddFunctionsOptions) => {
        const { addFunctions } = await import('./functions.ts');
        done(await addFunctions(runtime, file, options));
      }),
    new Command('list').description('list the modules').action(async (options: JsonOptions) => {
      const { listFunctions } = await import('./functions.ts');
      done(await listFunctions(runtime, options));
    }),
    new Command('remove')
      .argument('<file>')
      .description('remove the tools of a module; its file is kept')
      .action(async (file: string, options: JsonOptions) => {
        const { removeFunctions } = await import('./functions.ts');
        done(await removeFunctions(runtime, file, options));
      }),
  ];
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a whole number.');
  return Number(text);
}
