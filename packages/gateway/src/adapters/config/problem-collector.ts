import type { Node } from 'jsonc-parser';
import { parsePointer } from '@assay-mcp/kit/json-pointer';
import { shorten } from '@assay-mcp/kit/shorten';
import { getTreeMembers, toPosition } from './json-tree.ts';

/** An error in a config file and its position. Names the key and the cause, never a value that could be a secret. */
export interface ConfigProblem {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units as editors do. */
  readonly column: number;
  /** `mcpServers.git.command` */
  readonly key: string;
  readonly reason: string;
  readonly remedy: string;
}

/** The location of a value: its node for the position, its path for the key. */
export interface ConfigPosition {
  readonly node: Node;
  readonly path: readonly (string | number)[];
}

/** The position of a JSON pointer below another; the node of its deepest part that exists. */
export function resolvePosition({ node, path }: ConfigPosition, pointer: string): ConfigPosition {
  let [deepest, isThere] = [node, true];
  const steps = parsePointer(pointer).map((step) => {
    const key = deepest.type === 'array' && /^\d+$/.test(step) ? Number(step) : step;
    const child =
      typeof key === 'number'
        ? deepest.children?.[key]
        : getTreeMembers(deepest).find((member) => member.key === key)?.value;
    isThere &&= child !== undefined;
    if (isThere && child !== undefined) deepest = child;
    return key;
  });
  return { node: deepest, path: [...path, ...steps] };
}

/** Collects errors while a file is read. A problem disables the entry that contains it; a warning has no effect. */
export class ProblemCollector {
  readonly problems: ConfigProblem[] = [];
  readonly warnings: ConfigProblem[] = [];
  readonly #file: string;
  readonly #text: string;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  problem(position: ConfigPosition, reason: string, remedy: string): void {
    this.problems.push(this.#describe(position, reason, remedy));
  }

  warn(position: ConfigPosition, reason: string, remedy: string): void {
    this.warnings.push(this.#describe(position, reason, remedy));
  }

  #describe({ node, path }: ConfigPosition, reason: string, remedy: string): ConfigProblem {
    return {
      file: this.#file,
      ...toPosition(this.#text, node.offset),
      key: formatKeyPath(path),
      reason,
      remedy,
    };
  }
}

const PLAIN_KEY = /^[\w$-]+$/;
const MAX_KEY_LENGTH = 80;

/** `mcpServers["my server"].args[2]`; user-supplied parts are escaped to stay on one line. */
export function formatKeyPath(path: readonly (string | number)[]): string {
  let key = '';
  for (const step of path) {
    if (typeof step === 'number') key += `[${step}]`;
    else if (!PLAIN_KEY.test(step) || step.length > MAX_KEY_LENGTH) key += `[${quoteConfigKey(step)}]`;
    else key += key === '' ? step : `.${step}`;
  }
  return key;
}

/** A key from the file for use in a sentence: escaped and truncated. */
export function quoteConfigKey(text: string): string {
  return JSON.stringify(shorten(text, MAX_KEY_LENGTH));
}
