import { realpath } from 'node:fs/promises';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { FolderAccess } from './access/folder-access.ts';
import { ToldRoots } from './access/told-roots.ts';
import { Codebase } from './codebase.ts';
import { Counters } from './counters.ts';
import type { SettingFault } from './embeddings/embedding-settings.ts';
import type { Fault } from './fault.ts';
import { ProjectConfigs } from './projects/project-config.ts';
import { ProjectFolders } from './projects/project-folders.ts';
import { createCodebaseServer, createCodebaseTools } from './server.ts';
import { type Removed, removeIndexed, type RemoveTarget } from './remove-indexed.ts';
import { Session } from './session.ts';
import { type CodebaseSettings, readSettings } from './settings.ts';
import { type Answer, callTool, type ToolCall } from './tools/tool.ts';
import type { ToolDeps } from './tools/tool-deps.ts';
import { WatchService } from './watch/watch-service.ts';

export interface CodebaseOptions {
  /** The absolute folder of Assay's data. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly userHome: string;
  /** Assay's config file. */
  readonly configPath: string;
  /** The folders that may be indexed and searched. Undefined: `cwd`, and those that a terminal was told. */
  readonly roots: readonly string[] | undefined;
  /** Set in a sandbox: a `ConfinedFacts` as JSON. */
  readonly confined?: string | undefined;
  /** The command that users know, such as `assay codebase`. */
  readonly calledAs: string;
}

/** What the gateway tells a process in a sandbox, which cannot see it. */
export interface ConfinedFacts {
  /** Real paths of the declared roots. Absent: as without a sandbox. */
  readonly roots?: readonly string[];
  /** The folders that a terminal had been told when the process was started. */
  readonly told: readonly string[];
  /** Assay's data folder and config file, wherever links lead. */
  readonly own: readonly string[];
}

export interface CodebaseProgram {
  /** Serves MCP on stdin and stdout until the client closes its side or `stopped` resolves. */
  readonly serve: (options: ServeOptions) => Promise<void>;
  /** Calls a tool for the operator, at a terminal. Any folder may be used, and servers may use it from then on. */
  readonly call: (tool: string, args: unknown, context: ToolCall) => Promise<Result<Answer, Fault>>;
  /** Removes a repository from the index of a project, for the operator. Its folder need not exist any more. */
  readonly remove: (target: RemoveTarget, context: ToolCall) => Promise<Result<Removed, Fault>>;
  readonly close: () => Promise<void>;
}

interface ServeOptions {
  /** Keeps nothing between requests, for a process that several clients share. */
  readonly isStateless: boolean;
  /** Whether changed files are indexed again in the background, if the settings allow it. */
  readonly isWatching: boolean;
  readonly stopped: Promise<void>;
}

/** The code-search server. Error: SETTING_INVALID. */
export function openCodebase(options: CodebaseOptions): Result<CodebaseProgram, Fault> {
  const { home, env, cwd, userHome, configPath, confined, calledAs } = options;
  const settings = readSettings(env);
  if (!settings.ok) return err(settingFault(settings.error));
  const facts = confined === undefined ? undefined : (JSON.parse(confined) as ConfinedFacts); // Written by the gateway.
  const folders = new ProjectFolders(home);
  const codebase = new Codebase({
    folders,
    settings: throughProxy(settings.value, facts && env['HTTP_PROXY']),
  });
  const told = new ToldRoots(home);
  const { roots, own } = facts ?? { roots: options.roots, own: [home, configPath] };
  const accessOf = (isOperator: boolean): FolderAccess =>
    new FolderAccess({ roots, cwd, userHome, own, told: facts?.told ?? told, isOperator, calledAs });
  const depsOf = (session: Session, access: FolderAccess): ToolDeps => ({
    ...{ codebase, folders, session, access },
    configs: new ProjectConfigs(),
    counters: new Counters(),
  });
  const terminal = new Session({ isStateless: false });
  terminal.setDirectory(cwd);
  const ofTerminal = depsOf(terminal, accessOf(true));
  const tools = createCodebaseTools(ofTerminal);
  return ok({
    serve: async ({ isStateless, isWatching, stopped }) => {
      const access = accessOf(false);
      const watch =
        isWatching && settings.value.isWatching ? new WatchService({ codebase, folders, access }) : undefined;
      try {
        await serve({ ...depsOf(new Session({ isStateless }), access), watch }, stopped);
      } finally {
        watch?.close();
      }
    },
    call: async (name, args, context) => {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) return err(unknownTool(name));
      const answer = await callTool(tool, args, context);
      return name === INDEX && answer.ok ? withRoot(answer.value, args, told) : answer;
    },
    remove: (target, context) => removeIndexed(target, { ...ofTerminal, told, ...context }),
    close: () => codebase.close(),
  });
}

/** In a sandbox, Assay's proxy is the only way to the embedding service. */
function throughProxy(settings: CodebaseSettings, proxy: string | undefined): CodebaseSettings {
  const { embeddings } = settings;
  return embeddings === undefined ? settings : { ...settings, embeddings: { ...embeddings, proxy } };
}

const INDEX = 'index_repository';

/** What the operator has indexed, servers may index and search from then on. */
async function withRoot(answer: Answer, args: unknown, told: ToldRoots): Promise<Result<Answer, Fault>> {
  const path = isJsonObject(args) ? args['repo_path'] : undefined;
  const root = typeof path === 'string' ? await realpath(path).catch(() => undefined) : undefined;
  const problem = root === undefined ? 'the folder is gone' : await told.add(root);
  if (problem === undefined) return ok(answer);
  return err({
    code: 'OPERATION_ERROR',
    message: `The folder is indexed, but servers may not use it, because the list of folders could not be written: ${problem}.`,
    remedy: 'Fix the cause, and run the command again.',
  });
}

/** Over stdio a process has one connection, but a client may begin it twice, to find out its era. */
async function serve(deps: ToolDeps, stopped: Promise<void>): Promise<void> {
  const handle = serveStdio(() => createCodebaseServer(deps));
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve());
  });
  await Promise.race([closed, stopped]);
  await handle.close();
}

function settingFault({ setting, problem, remedy }: SettingFault): Fault {
  return { code: 'SETTING_INVALID', message: `${setting} ${problem}`, remedy };
}

function unknownTool(name: string): Fault {
  return {
    code: 'NOT_FOUND',
    message: `There is no tool ${JSON.stringify(name)}.`,
    remedy: 'List the tools.',
  };
}
