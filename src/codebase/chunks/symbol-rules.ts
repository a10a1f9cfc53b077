import type { ParsedLanguage } from './languages.ts';
import { CPP, CSHARP, GO, JAVA, RUST } from './rules/compiled.ts';
import { ECMASCRIPT } from './rules/ecmascript.ts';
import type { Rules } from './rules/rule.ts';
import { BASH, PHP, PYTHON, RUBY } from './rules/scripting.ts';

/** The rules for the nodes of each grammar. */
export const RULES: Readonly<Record<ParsedLanguage, Rules>> = {
  bash: BASH,
  c: CPP,
  cpp: CPP,
  csharp: CSHARP,
  go: GO,
  java: JAVA,
  javascript: ECMASCRIPT,
  php: PHP,
  python: PYTHON,
  ruby: RUBY,
  rust: RUST,
  tsx: ECMASCRIPT,
  typescript: ECMASCRIPT,
};
