import { createRequire } from 'node:module';
import type * as re2 from 're2js';
import type { StepCount } from './step-count.ts';

/** What Ajv asks of a regular expression. It keeps one by its text. */
export interface LinearPattern {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}

/** A larger one takes long for each character. */
const LARGEST_PROGRAM = 2_000;

/**
 * A regular expression whose time grows with its text alone, where that of the language can double with each character. A
 * pattern that has no such form, as one that looks ahead, fits all: what is called judges it.
 */
export function linearPattern(pattern: string, steps: StepCount): LinearPattern {
  const program = programOf(pattern);
  const size = program?.programSize() ?? 0;
  const test = (text: string): boolean => {
    steps.take(Math.max(text.length, 1) * Math.max(size, 1));
    return program === undefined || program.test(text);
  };
  return { test, toString: () => pattern };
}

let library: typeof re2 | undefined;

function programOf(pattern: string): re2.RE2JS | undefined {
  // Synchronous, and at no start: many schemas have no pattern.
  const { RE2JS } = (library ??= createRequire(import.meta.url)('re2js') as typeof re2);
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return program.programSize() > LARGEST_PROGRAM ? undefined : program;
  } catch {
    return undefined;
  }
}
