import type { Language } from '../source-chunk.ts';

export type ParsedLanguage = Exclude<Language, 'text'>;

/** The grammar of each language, by the name of its file. C is parsed as C++, which reads nearly all of it. */
export const GRAMMARS: Readonly<Record<ParsedLanguage, string>> = {
  bash: 'bash',
  c: 'cpp',
  cpp: 'cpp',
  csharp: 'c-sharp',
  go: 'go',
  java: 'java',
  javascript: 'javascript',
  php: 'php',
  python: 'python',
  ruby: 'ruby',
  rust: 'rust',
  tsx: 'tsx',
  typescript: 'typescript',
};

/** The language of a file, by its name, or by the interpreter that its first line names. */
export function detectLanguage(path: string, text: string): Language {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  const known = dot < 0 ? BY_NAME.get(name) : BY_EXTENSION.get(name.slice(dot + 1));
  if (known !== undefined) return known;
  if (dot > 0 || !text.startsWith('#!')) return 'text';
  return BY_INTERPRETER.get(INTERPRETER.exec(text.slice(0, 200))?.[1] ?? '') ?? 'text';
}

/** `#!/bin/sh`, `#!/usr/bin/env -S node --flag`, `#!/usr/bin/python3.12`. */
const INTERPRETER = /^#![ \t]*(?:[^\s]*\/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?([a-z]+)/;

const EXTENSIONS: Readonly<Record<ParsedLanguage, string>> = {
  bash: 'sh bash zsh ksh bats',
  c: 'c',
  cpp: 'cc cpp cxx c++ h hh hpp hxx h++ ipp tpp inl cu cuh',
  csharp: 'cs csx',
  go: 'go',
  java: 'java',
  javascript: 'js mjs cjs jsx',
  php: 'php phtml php5 php7 php8',
  python: 'py pyi pyw',
  ruby: 'rb rake gemspec ru podspec',
  rust: 'rs',
  tsx: 'tsx',
  typescript: 'ts mts cts',
};

const BY_EXTENSION = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, list]) =>
    list.split(' ').map((extension): [string, ParsedLanguage] => [extension, language as ParsedLanguage]),
  ),
);

const BY_NAME: ReadonlyMap<string, ParsedLanguage> = new Map([
  ['rakefile', 'ruby'],
  ['gemfile', 'ruby'],
  ['vagrantfile', 'ruby'],
  ['podfile', 'ruby'],
]);

const BY_INTERPRETER: ReadonlyMap<string, ParsedLanguage> = new Map([
  ['sh', 'bash'],
  ['bash', 'bash'],
  ['dash', 'bash'],
  ['ksh', 'bash'],
  ['zsh', 'bash'],
  ['node', 'javascript'],
  ['bun', 'typescript'],
  ['deno', 'typescript'],
  ['python', 'python'],
  ['ruby', 'ruby'],
  ['php', 'php'],
]);
