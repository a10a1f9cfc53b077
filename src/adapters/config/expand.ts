import { join } from 'node:path';

/** Where the values of variables come from. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The absolute folder of the config file. */
  readonly configDir: string;
}

/**
 * A text with its variables filled in. `missing`: the variables that have no value, by name, or ASKED. `foreign`:
 * whether something stands in `${…}` that is no variable of ours and stays as written.
 */
export interface Expansion {
  readonly text: string;
  readonly missing: readonly string[];
  readonly foreign: boolean;
}

/** In the place of a name: VS Code asks its user for `${input:…}`. */
export const ASKED = 'input:';

/**
 * Fills in `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${userHome}` and `${configDir}`, once: what a variable holds is
 * taken as it is. As in Claude Code, a variable that is set and empty is set.
 */
export function expand(text: string, around: Surroundings): Expansion {
  const missing: string[] = [];
  let foreign = false;
  let out = '';
  let at = 0;
  for (;;) {
    const open = text.indexOf('${', at);
    const close = open < 0 ? -1 : closingBrace(text, open + 2);
    if (close < 0) return { text: out + text.slice(at), missing, foreign };
    const part = expandReference(text.slice(open + 2, close), around);
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

function expandReference(inner: string, around: Surroundings): Expansion {
  const [, explicit, name, fallback] = REFERENCE.exec(inner) ?? [];
  if (name === undefined) {
    const text = `\${${inner}}`;
    return inner.startsWith('input:')
      ? { text, missing: [ASKED], foreign: false }
      : { text, missing: [], foreign: true };
  }
  const value =
    explicit === undefined ? (ownVariable(name, around) ?? envOf(name, around)) : envOf(name, around);
  if (value !== undefined) return { text: value, missing: [], foreign: false };
  if (fallback !== undefined) return expand(fallback, around);
  return { text: '', missing: [name], foreign: false };
}

function ownVariable(name: string, { home, configDir }: Surroundings): string | undefined {
  if (name === 'userHome') return home;
  return name === 'configDir' ? configDir : undefined;
}

function envOf(name: string, { env }: Surroundings): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** A default may hold variables itself: `${A:-${B}}`. */
function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
