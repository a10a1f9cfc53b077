import { Command, CommanderError, Option } from 'commander';
import { EXIT } from '../../core/errors.ts';
import type { Done } from './common-options.ts';
import type { Runtime } from './runtime.ts';

/** Runs one command line; resolves with the exit code, see EXIT. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  const begun = argv.length > 2 ? undefined : await (await import('./begin.ts')).begin(runtime, {});
  if (begun !== undefined) return begun;
  let exit: number = EXIT.done;
  const done: Done = (code) => (exit = code);
  const program = await buildProgram(runtime, done, argv);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  return exit;
}

type CreateCommand = (runtime: Runtime, done: Done, argv: readonly string[]) => Command;

/**
 * All commands, in the order of the help. The options of a command stand beside its action, in a module that is loaded
 * only for this command, or to list all commands.
 */
const COMMANDS: Readonly<Record<string, () => Promise<CreateCommand>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  stdio: async () => (await import('./stdio.ts')).stdioCommand,
  service: async () => (await import('./service.ts')).serviceCommand,
  stop: async () => (await import('./stop.ts')).stopCommand,
  disable: async () => (await import('./disable.ts')).disableCommand,
  enable: async () => (await import('./disable.ts')).enableCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  settings: async () => (await import('./settings.ts')).settingsCommand,
  docs: async () => (await import('./docs.ts')).docsCommand,
  logs: async () => (await import('./logs.ts')).logsCommand,
  tools: async () => (await import('./tools.ts')).toolsCommand,
  call: async () => (await import('./call.ts')).callCommand,
  review: async () => (await import('./review.ts')).reviewCommand,
  hints: async () => (await import('./hints.ts')).hintsCommand,
  trust: async () => (await import('./trust.ts')).trustCommand,
  edit: async () => (await import('./edit.ts')).editCommand,
  lint: async () => (await import('./lint.ts')).lintCommand,
  add: async () => (await import('./add.ts')).addCommand,
  remove: async () => (await import('./add.ts')).removeCommand,
  setup: async () => (await import('./setup.ts')).setupCommand,
  import: async () => (await import('./import.ts')).importCommand,
  connect: async () => (await import('./connect.ts')).connectCommand,
  uninstall: async () => (await import('./uninstall.ts')).uninstallCommand,
  export: async () => (await import('./export-bundle.ts')).exportCommand,
  openapi: async () => (await import('./openapi.ts')).openapiCommand,
  rest: async () => (await import('./rest.ts')).restCommand,
  function: async () => (await import('./functions.ts')).functionCommand,
  toolset: async () => (await import('./toolset.ts')).toolsetCommand,
  notes: async () => (await import('./notes.ts')).notesCommand,
  policy: async () => (await import('./policy.ts')).policyCommand,
  approvals: async () => (await import('./approvals.ts')).approvalsCommand,
  activity: async () => (await import('./activity.ts')).activityCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  sandbox: async () => (await import('./sandbox.ts')).sandboxCommand,
  codebase: async () => (await import('./codebase.ts')).codebaseCommand,
  secret: async () => (await import('./secret.ts')).secretCommand,
  token: async () => (await import('./token.ts')).tokenCommand,
  auth: async () => (await import('./auth.ts')).authCommand,
  store: async () => (await import('./store.ts')).storeCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
};

/** The command that `argv` names, otherwise all. `done` receives the exit code of the one that runs. */
export async function buildProgram(
  runtime: Runtime,
  done: Done,
  argv: readonly string[] = [],
): Promise<Command> {
  const program = new Command('assay')
    .description('The MCP gateway that tells the truth about tools.')
    .version(runtime.version)
    .exitOverride()
    .showHelpAfterError('(assay --help shows all commands)');
  const add = (command: Command, isHidden = false): void =>
    void program.addCommand(inheriting(command, program), { hidden: isHidden });
  const [name = '', , first = '', ...others] = argv.slice(2);
  const isCompleting = name === 'complete';
  // Of a command line whose first word is complete, only that command is needed.
  const known = isCompleting && others.length > 0 ? first : name;
  const loading = Object.entries(COMMANDS).filter(
    ([one]) => one === known || !Object.hasOwn(COMMANDS, known),
  );
  for (const create of await Promise.all(loading.map(([, load]) => load()))) add(create(runtime, done, argv));
  if (isCompleting) add((await import('./completion.ts')).completeCommand(runtime, done), true);
  return program;
}

/** Passes the error and help settings on to nested commands, and lets each take the options of the home. */
function inheriting(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  for (const inner of command.commands) inheriting(inner, command);
  if (command.commands.length === 0) takeHomeOptions(command);
  return command;
}

/** Scripts pass the same options to every command; those that do not need one do not show it. */
function takeHomeOptions(command: Command): void {
  for (const [long, flags] of HOME_OPTIONS)
    if (!command.options.some((option) => option.long === long))
      command.addOption(new Option(flags).hideHelp());
}

const HOME_OPTIONS = [
  ['--home', '--home <folder>'],
  ['--config', '--config <file>'],
] as const;
