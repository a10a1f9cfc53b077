import { join } from 'node:path';

/** Sources of variable values. */
export interface VariableSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The absolute folder of the config file. */
  readonly configDir: string;
}

/**
 * A text with its variables expanded. `missing`: names of variables without a value, or ASKED. `foreign`: whether a
 * `${…}` is not one of our variables and was left unchanged.
 */
export interface Expansion {
  readonly text: string;
  readonly missing: readonly string[];
  readonly foreign: boolean;
}

/** In `missing`, stands for any `${input:…}`, for which VS Code prompts its user. */
export const ASKED = 'input:';

/**
 * Expands `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${userHome}` and `${configDir}`, not recursively: the values of
 * variables are not expanded. As in Claude Code, an empty variable counts as set.
 */
export function expand(text: string, sources: VariableSources): Expansion {
  const missing: string[] = [];
  let foreign = false;
  let out = '';
  let at = 0;
  for (;;) {
    const open = text.indexOf('${', at);
    const close = open < 0 ? -1 : closingBrace(text, open + 2);
    if (close < 0) return { text: out + text.slice(at), missing, foreign };
    const part = expandReference(text.slice(open + 2, close), sources);
    out += text.slice(at, open) + part.text;
    missing.push(...part.missing);
    foreign ||= part.foreign;
    at = close + 1;
  }
}

/** `~` and `~/x` mean the home folder, as in a shell; `~name` and a tilde elsewhere do not. */
export function expandHome(text: string, home: string): string {
  return text === '~' || text.startsWith('~/') ? join(home, text.slice(1)) : text;
}

const REFERENCE = /^(env:)?([A-Za-z_]\w*)(?::-(.*))?$/s;

function expandReference(inner: string, sources: VariableSources): Expansion {
  const [, explicit, name, fallback] = REFERENCE.exec(inner) ?? [];
  if (name === undefined) {
    const text = `\${${inner}}`;
    return inner.startsWith('input:')
      ? { text, missing: [ASKED], foreign: false }
      : { text, missing: [], foreign: true };
  }
  const value =
    explicit === undefined ? (ownVariable(name, sources) ?? envOf(name, sources)) : envOf(name, sources);
  if (value !== undefined) return { text: value, missing: [], foreign: false };
  if (fallback !== undefined) return expand(fallback, sources);
  return { text: '', missing: [name], foreign: false };
}

function ownVariable(name: string, { home, configDir }: VariableSources): string | undefined {
  if (name === 'userHome') return home;
  return name === 'configDir' ? configDir : undefined;
}

function envOf(name: string, { env }: VariableSources): string | undefined {
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
