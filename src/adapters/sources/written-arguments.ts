import { err, ok, type Result } from '../../core/result.ts';
import { scanArray, scanMembers } from '../../protocol/scan.ts';
import { rawOf } from '../../protocol/spans.ts';
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

export function writtenArguments({ values, text }: BuiltInArguments): WrittenArguments {
  let read: ReadonlyMap<string, string> | undefined;
  const written = (): ReadonlyMap<string, string> => (read ??= writtenValues(text));
  const valueOf = (name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined);
  return {
    textOf(name) {
      const value = valueOf(name);
      return typeof value === 'number' ? ok(written().get(name) ?? String(value)) : textOfScalar(value);
    },
    textsOf(name) {
      const value = valueOf(name);
      if (!Array.isArray(value)) {
        const only = this.textOf(name);
        return only.ok ? ok(only.value === undefined ? [] : [only.value]) : only;
      }
      return textsOfList(value, () => written().get(name));
    },
    without(names) {
      const bytes = Buffer.from(text);
      const kept = new Map<string, string>();
      for (const { key, keyStart, end } of scanMembers(bytes) ?? [])
        if (!names.has(key)) kept.set(key, rawOf(bytes, { start: keyStart, end }));
      return `{${[...kept.values()].join(',')}}`;
    },
  };
}

/** By name; the last of a duplicate name wins, as it does for JSON.parse. */
function writtenValues(text: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(text);
  return new Map((scanMembers(bytes) ?? []).map((member) => [member.key, rawOf(bytes, member)]));
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
      return err('is an object or a list, which is not possible there');
  }
}

function textsOfList(
  list: readonly unknown[],
  rawList: () => string | undefined,
): Result<readonly string[], string> {
  const bytes = list.some((item) => typeof item === 'number') ? Buffer.from(rawList() ?? '') : undefined;
  const spans = bytes && scanArray(bytes, 0, false);
  const texts: string[] = [];
  for (const [index, item] of list.entries()) {
    const span = typeof item === 'number' ? spans?.[index] : undefined;
    const text = bytes !== undefined && span !== undefined ? ok(rawOf(bytes, span)) : textOfScalar(item);
    if (!text.ok) return err('contains an object, a list, or something that is not text');
    if (text.value !== undefined) texts.push(text.value);
  }
  return ok(texts);
}
