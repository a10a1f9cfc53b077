import { basename, dirname, join } from 'node:path';
import { inspectPath } from '@assay-mcp/kit/platform/machine';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** What `npx -y example@1.2.0 --flag` starts. */
export interface NpxCommand {
  /** As written, such as `@scope/name@^1.0.0`. */
  readonly spec: string;
  readonly name: string;
  /** The command of the package; undefined for the one that npx chooses. */
  readonly bin: string | undefined;
  readonly args: readonly string[];
}

const NAME = /^(?:@[a-z\d~-][a-z\d._~-]*\/)?[a-z\d~][a-z\d._~-]*$/i;
/** A version, a range or a tag. Anything else would be fetched from elsewhere, or read from this machine. */
const VERSION = /^[\w.^~<>=|* +-]{1,100}$/;
const MAX_NAME = 214;
const YES = new Set(['-y', '--yes', '-q', '--quiet']);

/** Parses the command line of npx. Undefined if it is another program; the error is a phrase. */
export function parseNpx(command: readonly string[]): Result<NpxCommand, string> | undefined {
  const [program = '', ...words] = command;
  if (basename(program) !== 'npx') return undefined;
  let wanted: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, inline] = /^--package=(.*)$/s.exec(word) ?? [];
    if (YES.has(word)) continue;
    if (word === '--') return fromWords(words.slice(at + 1), wanted);
    if (!word.startsWith('-')) return fromWords(words.slice(at), wanted);
    if (word !== '-p' && word !== '--package' && inline === undefined)
      return err(`npx option ${word} is not supported; install the package and verify its command`);
    if (wanted !== undefined) return err('npx: only one --package can be verified');
    if (inline === undefined) at += 1;
    wanted = inline ?? words[at] ?? '';
  }
  return fromWords([], wanted);
}

function fromWords(words: readonly string[], wanted: string | undefined): Result<NpxCommand, string> {
  const [first = '', ...args] = words;
  const spec = wanted ?? first;
  const at = spec.indexOf('@', 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  const isKnown = NAME.test(name) && name.length <= MAX_NAME && (at < 0 || VERSION.test(spec.slice(at + 1)));
  if (!isKnown)
    return err(`npx: ${JSON.stringify(spec)} does not name a package of a registry; install it first`);
  if (wanted !== undefined && first === '') return err('npx: after --package, name the command to start');
  return ok({ spec, name, bin: wanted === undefined ? undefined : first, args });
}

/** Whether npx starts a package that is installed in this folder or one around it. With a version, it may not. */
export async function isInstalled({ spec, name }: NpxCommand, cwd: string): Promise<boolean> {
  if (spec !== name) return false;
  for (let at = cwd; at !== dirname(at); at = dirname(at))
    if ((await inspectPath(join(at, 'node_modules', name, 'package.json'))) !== undefined) return true;
  return false;
}
