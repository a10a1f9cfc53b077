import { readFileSync } from 'node:fs';
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { err, ok, type Result } from '../core/result.ts';
import { isRecord, type LoadMessage } from '../core/sources/function-messages.ts';
import { exportedTools, type ReadTools, type WriteZod } from './exported-tools.ts';
import { faultText, tryTo } from './fault-text.ts';
import { refuseBuiltin } from './harden-globals.ts';

/** Runs the module and reads its tools. The error is a text: what its author has to mend, and where. */
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
    const read = exportedTools(exported, zodWriter(path));
    if (read.tools.size === 0 && read.skipped.length === 0)
      return err('it exports no tool: make one with defineTool, and export it');
    return ok(read);
  } catch (error) {
    return err(faultText(withPlace(error, files), { folder }));
  }
}

/** Of the zod that the module itself finds, as its schemas are made by that one. */
function zodWriter(path: string): WriteZod | undefined {
  const found: unknown = tryTo(() => createRequire(path)('zod') as unknown);
  const write = isRecord(found) ? found['toJSONSchema'] : undefined;
  return typeof write === 'function' ? (write as WriteZod) : undefined; // zod 4, "JSON Schema"
}

/** V8 does not tell where a fault of syntax in JavaScript is; the parser of TypeScript, which reads it too, does. */
function withPlace(error: unknown, files: ReadonlySet<string>): unknown {
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

// Taken before it is taken away.
const hook = registerHooks;

interface HookOptions {
  /** Folder of the module. */
  readonly folder: string;
  /** Real path of a package.json of zod. */
  readonly zod: string | undefined;
  /** URL of what `assay-mcp` is. */
  readonly own: string;
  /** Told of each file in the folder, packages aside. */
  readonly onFile: (path: string) => void;
}

/** Lets a module import `assay-mcp` and zod though nothing is installed beside it. */
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
        // A package knows itself by its own name.
        return next(specifier, { ...context, parentURL: pathToFileURL(zod).href });
      }
    },
    load(url, context, next) {
      refuseBuiltin(url);
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (path.startsWith(folder + sep) && !path.includes(`${sep}node_modules${sep}`)) onFile(path);
      return next(url, context);
    },
  });
}
