import { readFileSync } from 'node:fs';
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isRecord, type LoadMessage } from './function-messages.ts';
import { readExportedTools, type ReadTools, type WriteZod } from './exported-tools.ts';
import { formatThrown, tryTo } from './fault-text.ts';
import { refuseBuiltin } from './harden-globals.ts';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** Runs the module and reads its tools. The error tells its author what to fix, and where. */
export async function loadModule(
  { path, zod }: LoadMessage,
  onFile: (path: string) => void,
): Promise<Result<ReadTools, string>> {
  const folder = dirname(path);
  const files = new Set([path]);
  const note = (file: string): void => {
    files.add(file);
    onFile(file);
  };
  const own = new URL('./define-tool.js', import.meta.url).href;
  hookModules({ folder, zod, own, onFile: note });
  const url = pathToFileURL(path).href;
  try {
    const exported: unknown = await import(url);
    if (!isRecord(exported)) return err('it exports nothing');
    const read = readExportedTools(exported, zodWriter(path));
    if (read.tools.size === 0 && read.skipped.length === 0)
      return err('it exports no tool: make one with defineTool, and export it');
    return ok(read);
  } catch (error) {
    return err(formatThrown(withPosition(error, files), { folder }));
  }
}

/** From the copy of zod that the module itself resolves, because it made the schemas. */
function zodWriter(path: string): WriteZod | undefined {
  const found: unknown = tryTo(() => createRequire(path)('zod') as unknown);
  const write = isRecord(found) ? found['toJSONSchema'] : undefined;
  return typeof write === 'function' ? (write as WriteZod) : undefined; // zod 4, "JSON Schema"
}

/** V8 does not report the position of a syntax error in JavaScript; the TypeScript parser does. */
function withPosition(error: unknown, files: ReadonlySet<string>): unknown {
  if (!(error instanceof SyntaxError) || /^(?:file:|\/).*:\d+$/m.test(error.stack ?? '')) return error;
  for (const file of [...files].reverse()) {
    const source = tryTo(() => readFileSync(file, 'utf8'));
    try {
      if (source !== undefined) stripTypeScriptTypes(source, { sourceUrl: pathToFileURL(file).href });
    } catch (placed) {
      const [first = '', ...rest] = placed instanceof Error ? (placed.stack ?? '').split('\n', 4) : [];
      error.stack = [first, ...rest, String(error.stack)].join('\n');
      return error;
    }
  }
  return error;
}

// Saved before `hardenGlobals` removes it.
const hook = registerHooks;

interface HookOptions {
  /** Folder of the module. */
  readonly folder: string;
  /** Real path of zod's package.json. */
  readonly zod: string | undefined;
  /** URL that `assay-mcp` resolves to. */
  readonly own: string;
  /** Called with each loaded file in the folder, except packages. */
  readonly onFile: (path: string) => void;
}

/** Lets a module import `assay-mcp` and zod even if they are not installed next to it. */
function hookModules({ folder, zod, own, onFile }: HookOptions): void {
  hook({
    resolve(specifier, context, next) {
      refuseBuiltin(specifier);
      if (specifier === 'assay-mcp') return { url: own, format: 'module', shortCircuit: true };
      if (!/^zod(?:\/|$)/.test(specifier)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch (error) {
        if (zod === undefined) throw error;
        // A package can import itself by its own name.
        return next(specifier, { ...context, parentURL: pathToFileURL(zod).href });
      }
    },
    load(url, context, next) {
      refuseBuiltin(url);
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (isInside(path, folder) && !path.includes(`${sep}node_modules${sep}`)) onFile(path);
      return next(url, context);
    },
  });
}
