import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { type Adjustments, resolveSchema } from './generate-value.ts';
import type { ArgumentContext } from './heuristics.ts';
import { isSecretValue } from './secret-values.ts';
import { splitName } from './tool-words.ts';

const MAX_VALUE = 100;
const MAX_NAMES = 100;

export interface FailedCall {
  readonly args: JsonObject;
  /** The text of the answer. */
  readonly text: string;
  readonly inputSchema: JsonObject;
  /** Those that led to the arguments. */
  readonly adjustments: Adjustments;
}

/** The adjustments so far, with changes. */
export class Draft {
  readonly #passed: Map<string, number>;
  readonly #values: Map<string, unknown>;
  readonly #included: Set<string>;
  readonly #omitted: Set<string>;
  readonly context: ArgumentContext;
  /** The scalars of the arguments by their paths, without the indexes of lists. */
  readonly leaves: ReadonlyMap<string, unknown>;
  /** Names of parameters. */
  readonly names: readonly string[];
  hasChanged = false;

  constructor({ args, inputSchema, adjustments }: FailedCall, context: ArgumentContext) {
    this.#passed = new Map(adjustments.passed);
    this.#values = new Map(adjustments.values);
    this.#included = new Set(adjustments.included);
    this.#omitted = new Set(adjustments.omitted);
    this.context = context;
    this.leaves = listLeaves(args);
    const { properties } = resolveSchema(inputSchema, inputSchema);
    this.names = [
      ...new Set([...Object.keys(isJsonObject(properties) ? properties : {}), ...Object.keys(args)]),
    ].slice(0, MAX_NAMES);
  }

  get adjustments(): Adjustments {
    return { passed: this.#passed, values: this.#values, included: this.#included, omitted: this.#omitted };
  }

  set(path: string, value: unknown): void {
    if (path === '' || isSecretValue(value)) return;
    if (this.#values.has(path) && this.#values.get(path) === value) return;
    this.#values.set(path, value);
    this.#omitted.delete(path);
    if (!this.leaves.has(path)) this.#included.add(path);
    this.hasChanged = true;
  }

  pass(path: string): void {
    if (path === '') return;
    this.#values.delete(path);
    this.#passed.set(path, (this.#passed.get(path) ?? 0) + 1);
    this.hasChanged = true;
  }

  include(path: string): void {
    if (path === '' || this.#included.has(path) || path.length > MAX_VALUE) return;
    this.#omitted.delete(path);
    this.#included.add(path);
    this.hasChanged = true;
  }

  omit(path: string): void {
    if (path === '' || this.#omitted.has(path)) return;
    this.#included.delete(path);
    this.#omitted.add(path);
    this.hasChanged = true;
  }

  /** Parameters that the text names. */
  namedIn(text: string): readonly string[] {
    return this.names.filter((name) =>
      new RegExp(`(?<![\\w])${name.replaceAll(/\W/g, '\\$&')}(?![\\w])`).test(text),
    );
  }

  /** The argument of which all words of its name are in the text: `yaml_rule` in "Invalid YAML rule". */
  #describedIn(text: string): string | undefined {
    const words = new Set(text.toLowerCase().split(/\W+/));
    return [...this.leaves.keys()].find((path) =>
      splitName(path.split('.').at(-1) ?? '').every((word) => words.has(word)),
    );
  }

  /** The path of the argument whose value the text repeats. */
  pathOfValueIn(text: string): string | undefined {
    return [...this.leaves]
      .filter(([, value]) => String(value).length >= 2 && text.includes(String(value).slice(0, MAX_VALUE)))
      .sort(([, one], [, other]) => String(other).length - String(one).length)[0]?.[0];
  }

  /** The argument that the text is most likely about. */
  subjectOf(text: string): string | undefined {
    const named = this.namedIn(text).filter((name) => this.leaves.has(name));
    const [first, ...others] = this.leaves.keys();
    return (
      this.pathOfValueIn(text) ??
      named[0] ??
      this.#describedIn(text) ??
      (others.length === 0 ? first : undefined)
    );
  }

  /** Arguments with a path in the seed data. */
  get paths(): readonly string[] {
    return [...this.leaves]
      .filter(([, value]) => typeof value === 'string' && value.startsWith(this.context.folder))
      .map(([path]) => path);
  }
}

function listLeaves(args: JsonObject): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (value: unknown, path: string, depth: number): void => {
    if (depth > 5 || leaves.size > 200) return;
    if (Array.isArray(value)) for (const one of value.slice(0, 3)) visit(one, path, depth + 1);
    else if (isJsonObject(value))
      for (const [key, one] of Object.entries(value))
        visit(one, path === '' ? key : `${path}.${key}`, depth + 1);
    else if (!leaves.has(path)) leaves.set(path, value);
  };
  visit(args, '', 0);
  return leaves;
}
