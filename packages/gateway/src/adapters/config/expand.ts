import { resolve } from 'node:path';
import { readReference, type ValueReference } from '../../core/secrets/value-reference.ts';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';

/** Sources of variable values. */
export interface VariableSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that the entry itself defines. They take precedence, and may have any name. */
  readonly ofEntry?: Readonly<Record<string, string>>;
  /** Names of those whose values are references. They are not known here. */
  readonly referring?: ReadonlySet<string>;
  readonly home: string;
  /** The absolute folder of the config file. */
  readonly configDir: string;
}

/**
 * A text with its variables expanded. `parts`: the same, with its references to secrets, files and commands, which are
 * never taken from the value of a variable. `faults`: why a reference is not valid. `variables`: the environment variables that were looked up. `missing`: names of
 * those without a value, or ASKED. `reserved`: names of Assay's own variables, which are never expanded. `foreign`:
 * whether a `${…}` is not one of our variables and was left unchanged.
 */
export interface Expansion {
  readonly text: string;
  readonly parts: readonly (string | ValueReference)[];
  readonly faults: readonly string[];
  readonly variables: readonly string[];
  readonly missing: readonly string[];
  readonly reserved: readonly string[];
  readonly foreign: boolean;
}

/** In `missing`, stands for any `${input:…}`, for which VS Code prompts its user. */
export const ASKED = 'input:';

/**
 * Expands `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${userHome}` and `${configDir}`, not recursively: the values of
 * variables are not expanded. As in Claude Code, an empty variable counts as set.
 */
export function expand(text: string, sources: VariableSources): Expansion {
  const variables: string[] = [];
  const missing: string[] = [];
  const reserved: string[] = [];
  const parts: (string | ValueReference)[] = [];
  const faults: string[] = [];
  let foreign = false;
  let out = '';
  let at = 0;
  for (;;) {
    const open = text.indexOf('${', at);
    const close = open < 0 ? -1 : closingBrace(text, open + 2);
    if (close < 0) {
      const rest = text.slice(at);
      if (rest !== '') parts.push(rest);
      return { text: out + rest, parts, faults, variables, missing, reserved, foreign };
    }
    if (open > at) parts.push(text.slice(at, open));
    const part = expandReference(text.slice(open + 2, close), sources);
    out += text.slice(at, open) + part.text;
    parts.push(...part.parts);
    faults.push(...part.faults);
    variables.push(...part.variables);
    missing.push(...part.missing);
    reserved.push(...part.reserved);
    foreign ||= part.foreign;
    at = close + 1;
  }
}

/** An entry may come from a project or another client; it must not send Assay's tokens and keys to its server. */
export function isReserved(name: string): boolean {
  return /^(?:ASSAY|HYPERTOOL)_/i.test(name);
}

const NOTHING: Omit<Expansion, 'text' | 'parts'> = {
  ...{ faults: [], variables: [], missing: [], reserved: [], foreign: false },
};

function toText(text: string): Pick<Expansion, 'text' | 'parts'> {
  return { text, parts: text === '' ? [] : [text] };
}

const REFERENCE = /^(env:)?([A-Za-z_]\w*)(?::-(.*))?$/s;

function expandReference(inner: string, sources: VariableSources): Expansion {
  const { home, configDir } = sources;
  const reference = readReference(inner, (path) => resolve(configDir, expandHome(path, home)));
  if (typeof reference === 'string') return { ...NOTHING, ...toText(''), faults: [reference] };
  if (reference !== undefined) return { ...NOTHING, text: `\${${inner}}`, parts: [reference] };
  const [, explicit, name, fallback] = REFERENCE.exec(inner) ?? [];
  if (name === undefined) {
    const text = `\${${inner}}`;
    return inner.startsWith('input:')
      ? { ...NOTHING, ...toText(text), missing: [ASKED] }
      : { ...NOTHING, ...toText(text), foreign: true };
  }
  if (explicit === undefined && sources.referring?.has(name) === true)
    return {
      ...NOTHING,
      ...toText(''),
      faults: [`the value of ${name} is a reference, and arguments are visible to other users`],
    };
  const known = explicit === undefined ? ownVariable(name, sources) : undefined;
  const given = known ?? valueIn(sources.ofEntry, name);
  if (given !== undefined) return { ...NOTHING, ...toText(given) };
  if (isReserved(name)) return { ...NOTHING, ...toText(''), reserved: [name] };
  const value = valueIn(sources.env, name);
  if (value !== undefined) return { ...NOTHING, ...toText(value), variables: [name] };
  if (fallback === undefined) return { ...NOTHING, ...toText(''), variables: [name], missing: [name] };
  const expanded = expand(fallback, sources);
  return { ...expanded, variables: [name, ...expanded.variables] };
}

function ownVariable(name: string, { home, configDir }: VariableSources): string | undefined {
  if (name === 'userHome') return home;
  return name === 'configDir' ? configDir : undefined;
}

function valueIn(env: VariableSources['env'] = {}, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** A default may itself contain variables: `${A:-${B}}`. */
function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
