import type { FileFilter } from '../file-filter.ts';
import type { Identifier } from '../search/parse-query.ts';
import { toCompoundTerm } from '../terms.ts';

/** The name of a symbol as people and code write it, parsed. */
export interface SymbolName extends Identifier {
  /** `struct` in `struct redisCommand`. */
  readonly kindWord: string | undefined;
}

export interface SymbolRequest extends FileFilter {
  readonly symbol: SymbolName;
  /** Maximum number of definitions, of files that use it, and of tests, 1 to 50. */
  readonly limit: number;
}

/** `total`, `Cart.total`, `Cart::total()`, `cart/total.ts:total`, `struct cart`. Undefined for anything else. */
export function parseSymbolName(text: string): SymbolName | undefined {
  const bare = text
    .trim()
    .replace(/^(["'`])(.*)\1$/, '$2')
    .replace(/(?:\([^()]*\)|;|\s)+$/, '');
  const [, kindWord, named = ''] = KIND_AND_NAME.exec(bare) ?? [];
  const parts = named
    .replace(/<[^<>]*>/g, '')
    .replace(/^[&*]+/, '')
    .replace(/[.]\w{1,4}(?=::?\w|#)/, '')
    .split(JOINT)
    .filter((part) => part !== '' && part !== 'prototype');
  const name = parts.at(-1) ?? '';
  if (toCompoundTerm(name) === '') return undefined;
  return { name, qualifiers: parts.slice(0, -1), kindWord: kindWord?.toLowerCase() };
}

const KIND_AND_NAME =
  /^(?:(struct|union|class|enum|interface|trait|type|module|namespace|object|function|func|fn|def|method|const|macro)\s+)?(\S+)$/i;
/** Between names in the languages that are parsed, and between directories. A name may begin with `#`. */
const JOINT = /::|->|[?]?[.]|[/\\:]|(?<=\w)#/;

/** Without the signs that some languages write at an end of a name: `valid?`, `#count`, `$total`, `name=`. */
export function withoutSigns(name: string): string {
  return name.replace(/^[#@$~]+|[?!=]+$/g, '');
}
