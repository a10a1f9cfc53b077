import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { formatCause } from '../../packages/gateway/src/core/cause.ts';
import { watchFile } from '@assay-mcp/kit/platform/watch-file';
import { openModule } from '../../packages/gateway/src/adapters/sources/functions/open-module.ts';
import type {
  BuiltInCall,
  BuiltInResult,
  BuiltInSource,
  BuiltInTools,
} from '../../packages/gateway/src/adapters/sources/built-in-tool.ts';
import type { FunctionModuleSpec } from '../../packages/gateway/src/core/sources/custom-tools.ts';
import type { Log } from '../../packages/gateway/src/gateway/ports/log.ts';
import { endLater, killLater } from './endings.ts';
import { MAIN, tempDir } from './paths.ts';

export const RUNNER: string = join(dirname(MAIN), 'function-runner.js');

export interface OpenedModule {
  readonly source: BuiltInSource;
  readonly folder: string;
  readonly path: string;
  /** Log entries, as `warn message {"field":1}`. */
  readonly logged: readonly string[];
  write(name: string, text: string): void;
  /** Throws the reason if it cannot be read. */
  read(): Promise<BuiltInTools>;
  /** The reason why it cannot be read. */
  fault(): Promise<string>;
  call(tool: string, args?: object, call?: Partial<BuiltInCall>): Promise<BuiltInResult>;
  /** The first text, prefixed with `! ` for an error. */
  say(tool: string, args?: object, call?: Partial<BuiltInCall>): Promise<string>;
}

/** Opens a module with these files in a new folder; the first file is the module itself. */
export function openedModule(
  files: Readonly<Record<string, string>>,
  more: Partial<FunctionModuleSpec> & {
    readonly isWatched?: boolean;
    readonly forbidden?: readonly string[];
    readonly nowMs?: () => number;
  } = {},
): OpenedModule {
  const folder = tempDir();
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const path = join(folder, Object.keys(files)[0] ?? 'tools.mjs');
  const logged: string[] = [];
  const { isWatched, forbidden, nowMs, ...given } = more;
  const spec = { path, env: {}, reads: [], writes: [], memoryMb: 128, timeoutMs: 30_000, ...given };
  const watch = isWatched === true ? watchFile : undefined;
  const source = openModule(spec, {
    launcher: PLAIN_LAUNCHER,
    runner: RUNNER,
    log: logInto(logged),
    watch,
    forbidden,
    ...(nowMs !== undefined && { nowMs }),
  });
  endLater(() => source.close());
  const read = async (): Promise<BuiltInTools> => {
    const found = await source.read(AbortSignal.timeout(15_000));
    if (!found.ok) throw new Error(formatCause(found.error));
    return found.value;
  };
  const call = async (
    tool: string,
    args: object = {},
    made: Partial<BuiltInCall> = {},
  ): Promise<BuiltInResult> => {
    const found = (await read()).tools.find(({ definition }) => definition.name === tool);
    if (found === undefined) throw new Error(`no tool ${tool}`);
    const text = JSON.stringify(args);
    return found.run({ values: JSON.parse(text), text }, { ...SILENT, ...made });
  };
  return {
    source,
    folder,
    path,
    logged,
    write,
    read,
    fault: async () => {
      const found = await source.read(AbortSignal.timeout(15_000));
      if (found.ok) return 'none';
      return found.error.code === 'MODULE_NOT_LOADED' ? found.error.reason : formatCause(found.error);
    },
    call,
    say: async (...asked) => {
      const { content, isError } = await call(...asked);
      return `${isError === true ? '! ' : ''}${String(content[0]?.['text'])}`;
    },
  };
}

/** A module with these functions as tools. */
export function moduleOf(
  tools: Readonly<Record<string, string>>,
  head = '',
): Readonly<Record<string, string>> {
  const lines = Object.entries(tools).map(([name, run]) => `tool('${name}', ${run}),`);
  return {
    'tools.mjs': [
      `import { defineTool } from 'assay-mcp'; ${head}`,
      'const tool = (name, run) => defineTool({ name, run, input: { type: "object" } });',
      'export default [',
      ...lines,
      '];',
    ].join('\n'),
  };
}

/** The process id of the module; it must not outlive the test. */
export async function pidOf(module: OpenedModule): Promise<number> {
  const pid = Number(await module.say('pid'));
  killLater(pid);
  return pid;
}

const SILENT: BuiltInCall = {
  cancellation: new Cancellation(),
  progress: () => undefined,
  log: () => undefined,
  ask: () => Promise.resolve({ ok: false, error: 'Nobody can be asked.' }),
};

function logInto(lines: string[]): Log {
  const at =
    (level: string) =>
    (message: string, { module: _, ...fields }: Readonly<Record<string, unknown>> = {}): void => {
      lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
