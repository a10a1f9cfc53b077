import { Command } from 'commander';
import { withConfig, withHome, type Done } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import type { CreateOptions, DeleteOptions, ExportOptions, ImportOptions } from './toolset.ts';
import type { JsonOptions } from './with-opened.ts';

/** `assay toolset` with its subcommands. Each loads its module only when run. */
export function toolsetCommand(runtime: Runtime, done: Done): Command {
  const toolset = new Command('toolset').description('create, change, equip, export and import toolsets');
  const commands = [
    ...showing(runtime, done).map(withConfig),
    ...making(runtime, done).map(withConfig),
    ...changing(runtime, done).map(withHome),
    ...choosing(runtime, done).map(withHome),
    ...reviewing(runtime, done).map(withConfig),
    withHome(exporting(runtime, done)),
    withConfig(importing(runtime, done)),
  ];
  for (const command of commands) toolset.addCommand(command.option('--json', 'print JSON'));
  return toolset;
}

function showing(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('list').description('list all toolsets').action(async (options: JsonOptions) => {
      const { listToolsets } = await import('./toolset.ts');
      done(await listToolsets(runtime, options));
    }),
    new Command('show')
      .argument('<name>')
      .description('show the tools and notes of a toolset, without starting servers')
      .action(async (name: string, options: JsonOptions) => {
        const { showToolset } = await import('./toolset.ts');
        done(await showToolset(runtime, name, options));
      }),
  ];
}

const REF =
  'a namespaced name (server.tool), "server.*" for all tools of a server, or a refId, which pins the tool to its current definition';

function making(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('create')
      .argument('<name>', 'lowercase letters, digits and hyphens')
      .argument('[refs...]', REF)
      .description('create a toolset')
      .option('--description <text>', 'purpose of the toolset')
      .option('--equip', 'equip it immediately')
      .action(async (name: string, refs: readonly string[], options: CreateOptions) => {
        const { createToolset } = await import('./toolset.ts');
        done(await createToolset(runtime, { name, refs, options }));
      }),
    new Command('add')
      .argument('<name>')
      .argument('<refs...>', REF)
      .description('add tools to a toolset')
      .action(async (name: string, refs: readonly string[], options: JsonOptions) => {
        const { addTools } = await import('./toolset.ts');
        done(await addTools(runtime, { name, refs, options }));
      }),
  ];
}

function changing(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('remove')
      .argument('<name>')
      .argument('<tools...>', 'namespaced names, or "server.*"')
      .description('remove tools from a toolset; their notes are kept')
      .action(async (name: string, refs: readonly string[], options: JsonOptions) => {
        const { removeTools } = await import('./toolset.ts');
        done(await removeTools(runtime, { name, refs, options }));
      }),
    new Command('rename')
      .argument('<old>')
      .argument('<new>')
      .description('rename a toolset')
      .action(async (from: string, to: string, options: JsonOptions) => {
        const { renameToolset } = await import('./toolset.ts');
        done(await renameToolset(runtime, { from, to }, options));
      }),
    new Command('describe')
      .argument('<name>')
      .argument('<text>', 'new description; an empty text removes it')
      .description('set the description of a toolset')
      .action(async (name: string, text: string, options: JsonOptions) => {
        const { describeToolset } = await import('./toolset.ts');
        done(await describeToolset(runtime, { name, text }, options));
      }),
  ];
}

function choosing(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('delete')
      .argument('<name>')
      .description('delete a toolset and its notes')
      .option('--yes', 'delete without asking')
      .action(async (name: string, options: DeleteOptions) => {
        const { deleteToolset } = await import('./toolset.ts');
        done(await deleteToolset(runtime, name, options));
      }),
    new Command('equip')
      .argument('<name>')
      .description('show clients only the tools of this toolset')
      .action(async (name: string, options: JsonOptions) => {
        const { equipToolset } = await import('./toolset.ts');
        done(await equipToolset(runtime, name, options));
      }),
    new Command('unequip').description('unequip the current toolset').action(async (options: JsonOptions) => {
      const { equipToolset } = await import('./toolset.ts');
      done(await equipToolset(runtime, undefined, options));
    }),
  ];
}

function reviewing(runtime: Runtime, done: Done): readonly Command[] {
  return [
    new Command('review')
      .argument('<name>')
      .description('show new tools of servers added as a whole, and changes in pinned tools')
      .action(async (name: string, options: JsonOptions) => {
        const { reviewToolset } = await import('./toolset.ts');
        done(await reviewToolset(runtime, name, options));
      }),
    new Command('accept')
      .argument('<name>')
      .argument('[refs...]', 'namespaced names or refIds (default: all new and changed tools)')
      .description('accept new tools, and pin changed tools to their current definitions')
      .action(async (name: string, refs: readonly string[], options: JsonOptions) => {
        const { acceptTools } = await import('./toolset.ts');
        done(await acceptTools(runtime, { name, refs, options }));
      }),
  ];
}

function exporting(runtime: Runtime, done: Done): Command {
  return new Command('export')
    .argument('[names...]', 'default: all')
    .description('print toolsets and their notes as JSON, or write them to a file')
    .option('--file <file>', 'write to this file instead of stdout')
    .action(async (names: readonly string[], options: ExportOptions) => {
      const { exportToolsets } = await import('./toolset.ts');
      done(await exportToolsets(runtime, names, options));
    });
}

function importing(runtime: Runtime, done: Done): Command {
  return new Command('import')
    .argument('<file>', 'exported toolsets, a single toolset, or config.json of HyperTool')
    .description('read toolsets and their notes from a file')
    .option('--replace', 'replace toolsets with the same names')
    .action(async (file: string, options: ImportOptions) => {
      const { importToolsets } = await import('./toolset.ts');
      done(await importToolsets(runtime, file, options));
    });
}
