/**
 * How the npm package of a server can be found from the command that starts it. `loadsMore`: its entry sets a variable
 * with which other code runs, too.
 */
export type PackageStart = { readonly loadsMore?: true } &
  /** npx chooses or installs the package. `version`: set if it is exact. */
  (
    | { readonly kind: 'npx'; readonly name: string; readonly version?: string }
    /** A script that Node runs. `name`: the package in whose folder under `node_modules` it is. */
    | { readonly kind: 'script'; readonly path: string; readonly name: string }
  );

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Undefined if the command does not name an npm package: a path outside `node_modules`, a Git address, an archive,
 * another program, or options that choose what runs.
 */
export function findPackageStart({ command, args, env }: Command): PackageStart | undefined {
  const more = Object.keys(env).some((key) => CHOOSES_CODE.test(key)) && ({ loadsMore: true } as const);
  const program = /[^/\\]*$/.exec(command)?.[0].replace(/\.(?:exe|cmd)$/i, '') ?? '';
  const [first = '', second = ''] = args;
  if (program === 'npx') {
    const start = toNpxStart(first === '-y' || first === '--yes' ? second : first);
    return start && { ...start, ...more };
  }
  const path = program === 'node' ? first : command;
  const name = findPackageName(path);
  return name === undefined ? undefined : { kind: 'script', path, name, ...more };
}

/** Variables with which other code runs than the command names. Their names have no case on Windows. */
const CHOOSES_CODE = /^(?:node_options|node_path|npm_config_.*|ld_preload|path)$/i;

const NAME = '(?:@[a-z0-9~_.-]+/)?[a-z0-9~][a-z0-9~_.-]*';
const SPECIFIER = new RegExp(`^(${NAME})(?:@(.*))?$`);
const EXACT = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;
const IN_MODULES = new RegExp(`^(?:.*[/\\\\])?node_modules[/\\\\](${NAME.replace('/', '[/\\\\]')})[/\\\\]`);

/** An alias such as `x@npm:other`, a Git address or an archive counts as another package. */
function toNpxStart(specifier: string): PackageStart | undefined {
  const [, name, range = 'latest'] = SPECIFIER.exec(specifier) ?? [];
  if (name === undefined || /[:/]/.test(range)) return undefined;
  return { kind: 'npx', name, ...(EXACT.test(range) && { version: range }) };
}

/** The package in the innermost `node_modules`. */
export function findPackageName(path: string): string | undefined {
  if (path.startsWith('-')) return undefined;
  return IN_MODULES.exec(path)?.[1]?.replace('\\', '/');
}
