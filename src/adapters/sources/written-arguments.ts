import { isMembers, parseWrittenJson } from '../../core/canonical-json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { scanMembers } from '../../protocol/scan.ts';
import { readRawValue } from '../../protocol/spans.ts';
import type { BuiltInArguments } from './built-in-tool.ts';

/** Arguments as text, numbers as the client wrote them. Errors are phrases that follow an argument's name. */
export interface WrittenArguments {
  /** Undefined if the argument is missing or null. */
  textOf(name: string): Result<string | undefined, string>;
  /** One text per list element; empty if the argument is missing or null. */
  textsOf(name: string): Result<readonly string[], string>;
  /** JSON text of an object of all other arguments. */
  without(names: ReadonlySet<string>): string;
}

export function readWrittenArguments({ values, text }: BuiltInArguments): WrittenArguments {
  let read: Readonly<Record<string, unknown>> | undefined;
  const written = (name: string): unknown => {
    if (!Object.hasOwn(values, name)) return undefined;
    const value = values[name];
    if (typeof value !== 'number' && !Array.isArray(value)) return value;
    if (read === undefined) {
      const all = parseWrittenJson(text)?.value;
      read = isMembers(all) ? all : values;
    }
    return read[name];
  };
  return {
    textOf: (name) => textOfScalar(written(name)),
    textsOf(name) {
      const value = written(name);
      if (Array.isArray(value)) return textsOfList(value);
      const only = textOfScalar(value);
      return only.ok ? ok(only.value === undefined ? [] : [only.value]) : only;
    },
    without(names) {
      const bytes = Buffer.from(text);
      const kept = new Map<string, string>();
      for (const { key, keyStart, end } of scanMembers(bytes) ?? [])
        if (!names.has(key)) kept.set(key, readRawValue(bytes, { start: keyStart, end }));
      return `{${[...kept.values()].join(',')}}`;
    },
  };
}

function textOfScalar(value: unknown): Result<string | undefined, string> {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? ok(value) : err('contains an incomplete character (a lone surrogate)');
    case 'number':
    case 'boolean':
      return ok(String(value));
    default:
      if (value === undefined || value === null) return ok(undefined);
      if (JSON.isRawJSON(value)) return ok(value.rawJSON);
      return err('is an object or a list, which is not possible there');
  }
}

function textsOfList(list: readonly unknown[]): Result<readonly string[], string> {
  const texts: string[] = [];
  for (const item of list) {
    const text = textOfScalar(item);
    if (!text.ok) return err('contains an object, a list, or something that is not text');
    if (text.value !== undefined) texts.push(text.value);
  }
  return ok(texts);
}
