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
    withConfig(openapiCommand(runtime, done)).option('--json', 'as JSON'),
    group('rest', 'make tools of HTTP requests', restCommands(runtime, done)),
    group(
      'function',
      'make tools of the exports of JavaScript and TypeScript modules',
      functionCommands(runtime, done),
    ),
  ];
}

function group(name: string, about: string, commands: readonly Command[]): Command {
  const command = new Command(name).description(about);
  for (const one of commands) command.addCommand(withConfig(one).option('--json', 'as JSON'));
  return command;
}

function openapiCommand(runtime: Runtime, done: Done): Command {
  return new Command('openapi')
    .argument('<document>', 'the path or URL of an OpenAPI 3.0 or 3.1 document; with --remove, its name')
    .description('make tools of the operations of an OpenAPI document; again, to import it anew')
    .option('--name <name>', 'of the source (default: that of its file, or of its host)')
    .option('--base-url <url>', 'where the API is, in the place of what the document says')
    .option('--header <name: value...>', 'sent with each request')
    .option(
      '--credential <scheme=value...>',
      'a token or key by its security scheme; user:password for basic',
    )
    .option('--trust', 'let the document lower caution: its x-mcp, and all of its methods')
    .option('--remove', 'take its tools away')
    .action(async (document: string, options: OpenapiOptions) => {
      const { importOpenapi } = await import('./openapi.ts');
      done(await importOpenapi(runtime, document, options));
    });
}

function restCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('add')
      .argument('<name>')
      .argument('<url>', 'absolute; {argument} in its path or query stands for an argument')
      .description('make a tool of a request')
      .option('--method <method>', 'of the request; without it POST, and nothing follows from it')
      .option('--title <text>')
      .option('--description <text>', 'what the model reads')
      .option('--header <name: value...>', 'sent with each request')
      .option('--bearer <token>', 'sent as Authorization')
      .option('--entry <json>', 'all other members, as the config file has them')
      .action(async (name: string, url: string, options: AddRestOptions) => {
        const { addRestTool } = await import('./rest.ts');
        done(await addRestTool(runtime, { name, url, options }));
      }),
    new Command('list').description('list the tools of your own').action(async (options: JsonOptions) => {
      const { listRestTools } = await import('./rest.ts');
      done(await listRestTools(runtime, options));
    }),
    new Command('remove')
      .argument('<name>')
      .description('take a tool away')
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
      .description('make tools of what a module exports')
      .option('--env <NAME=value...>', 'the environment of its process')
      .option('--read <path...>', 'what it may read beside its own folder')
      .option('--write <path...>', 'what it may write')
      .option('--memory <MB>', 'most memory of its process', whole)
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
      .description('take the tools of a module away; its file stays')
      .action(async (file: string, options: JsonOptions) => {
        const { removeFunctions } = await import('./functions.ts');
        done(await removeFunctions(runtime, file, options));
      }),
  ];
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is no whole number.');
  return Number(text);
}
