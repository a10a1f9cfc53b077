import { err, ok, type Result } from '@assay-mcp/kit/result';

export type TextMode = 'exact' | 'regex';

/** Finds a text or a regular expression in lines of code. */
export interface LineMatcher {
  readonly mode: TextMode;
  /** What every match contains; undefined for a regular expression. */
  readonly literal: string | undefined;
  /** Whether a text may have a line that matches. False is certain. */
  readonly mayMatch: (text: string) => boolean;
  /** The offset of the first match in a line; -1 if there is none. */
  readonly find: (line: string) => number;
}

/** The error is a sentence about what is wrong with the query. */
export async function createLineMatcher(query: string, mode: TextMode): Promise<Result<LineMatcher, string>> {
  if (/[\r\n]/.test(query)) return err('It has several lines, but lines are searched one by one.');
  return mode === 'exact' ? ok(createExactMatcher(query)) : createRegexMatcher(query);
}

function createExactMatcher(text: string): LineMatcher {
  return {
    mode: 'exact',
    literal: text,
    mayMatch: (content) => content.includes(text),
    find: (line) => line.indexOf(text),
  };
}

/** A larger program, such as that of `(a{50}){50}`, would take too long for one chunk. */
const MAX_PROGRAM_SIZE = 1_000;

/** Runs in linear time; JavaScript's own engine can take exponential time. */
async function createRegexMatcher(pattern: string): Promise<Result<LineMatcher, string>> {
  const { RE2JS, RE2JSException } = await import('re2js');
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(pattern), RE2JS.MULTILINE);
    if (program.programSize() > MAX_PROGRAM_SIZE) return err('The regular expression is too large.');
    const isByLine = !ANCHORS_TO_TEXT.test(pattern);
    return ok({
      mode: 'regex',
      literal: undefined,
      mayMatch: (content) => !isByLine || program.test(content),
      find: (line) => {
        if (!program.test(line)) return -1;
        const matcher = program.matcher(line);
        return matcher.find() ? matcher.start() : -1;
      },
    });
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '').replace('`(?m)', '`');
    return err(`The regular expression is invalid: ${reason}.`);
  }
}

/** What can match in a line, but not in a text with this line: the start and end of a text, and `^` without its flag. */
const ANCHORS_TO_TEXT = /\\[AzZ]|\(\?[a-zA-Z]*-/;
