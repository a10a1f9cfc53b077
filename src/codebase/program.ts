import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { err, ok, type Result } from '../core/result.ts';
import { Codebase } from './codebase.ts';
import { Counters } from './counters.ts';
import type { SettingFault } from './embeddings/embedding-settings.ts';
import type { Fault } from './fault.ts';
import { ProjectConfigs } from './projects/project-config.ts';
import { ProjectFolders } from './projects/project-folders.ts';
import { codebaseServer, codebaseTools } from './server.ts';
import { Session } from './session.ts';
import { readSettings } from './settings.ts';
import { type Answer, callTool, type ToolCall } from './tools/tool.ts';
import type { ToolDeps } from './tools/tool-deps.ts';

export interface CodebaseOptions {
  /** The absolute folder of Assay's data. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory of calls from a terminal. */
  readonly cwd: string;
}

export interface CodebaseProgram {
  /** Serves MCP on stdin and stdout until the client closes its side or `stopped` resolves. */
  readonly serve: (options: ServeOptions) => Promise<void>;
  readonly call: (tool: string, args: unknown, context: ToolCall) => Promise<Result<Answer, Fault>>;
  readonly close: () => Promise<void>;
}

interface ServeOptions {
  /** Keeps nothing between requests, for a process that several clients share. */
  readonly isStateless: boolean;
  readonly stopped: Promise<void>;
}

/** The code-search server. Error: SETTING_INVALID. */
export function openCodebase({ home, env, cwd }: CodebaseOptions): Result<CodebaseProgram, Fault> {
  const settings = readSettings(env);
  if (!settings.ok) return err(settingFault(settings.error));
  const folders = new ProjectFolders(home);
  const codebase = new Codebase({ folders, settings: settings.value });
  const depsOf = (session: Session): ToolDeps => ({
    ...{ codebase, folders, session },
    configs: new ProjectConfigs(),
    counters: new Counters(),
  });
  const terminal = new Session({ isStateless: false });
  terminal.setDirectory(cwd);
  const tools = codebaseTools(depsOf(terminal));
  return ok({
    serve: (options) => serve(depsOf(new Session(options)), options.stopped),
    call: async (name, args, context) => {
      const tool = tools.find((one) => one.name === name);
      return tool === undefined ? err(unknownTool(name)) : callTool(tool, args, context);
    },
    close: () => codebase.close(),
  });
}

/** Over stdio a process has one connection, but a client may begin it twice, to find out its era. */
async function serve(deps: ToolDeps, stopped: Promise<void>): Promise<void> {
  const handle = serveStdio(() => codebaseServer(deps));
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
