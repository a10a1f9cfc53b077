import ignore, { type Ignore } from 'ignore';

/** The ignore files of one directory. Later ones take precedence. */
export interface IgnoreTexts {
  /** The file that `core.excludesFile` names, at the root only. */
  readonly global?: string | undefined;
  /** `info/exclude` of git's directory, at the root of a working tree only. */
  readonly exclude?: string | undefined;
  readonly gitignore?: string | undefined;
  /** Read as further lines of the `.gitignore` in the same directory. */
  readonly mcpignore?: string | undefined;
}

export interface Verdict {
  readonly isIgnored: boolean;
  /** A line of a `.mcpignore` ignores it, so that it counts even if git tracks it. */
  readonly isExcluded: boolean;
  /** A line with `!` in a `.mcpignore` includes it, even if it is skipped by default. */
  readonly isTakenIn: boolean;
}

interface Level {
  /** The directory of the files, relative to the root: empty, or with a slash at its end. */
  readonly base: string;
  readonly lines: readonly string[];
  readonly rules: Ignore;
  readonly mcpRules: Ignore | undefined;
}

/** Maximum number of lines of one directory's ignore files; further lines are not applied. */
const MAX_LINES = 10_000;
/** No path is longer, so neither is a pattern that matches one. */
const MAX_LINE_LENGTH = 4_096;
/**
 * Maximum number of `**` parts in a pattern; one with more is not applied. Matching takes exponential time: a dozen of
 * them would take minutes for one deep path.
 */
const MAX_GLOBSTARS = 3;
const GLOBSTAR = /(?:^|\/)\*\*+(?=\/|$)/g;

/**
 * The ignore rules that apply in one directory: its own and those of its parents. As in git, the nearest rule that
 * matches wins. An ignored directory must not be entered.
 */
export class IgnoreRules {
  static readonly NONE: IgnoreRules = new IgnoreRules([]);
  /** From the innermost directory outwards. */
  readonly #levels: readonly Level[];

  private constructor(levels: readonly Level[]) {
    this.#levels = levels;
  }

  /** The rules inside `directory`, given as for `verdict`. */
  within(directory: string, { global, exclude, gitignore, mcpignore }: IgnoreTexts): IgnoreRules {
    const mcpLines = linesOf(mcpignore);
    const lines = [...linesOf(global), ...linesOf(exclude), ...linesOf(gitignore), ...mcpLines];
    if (lines.length === 0) return this;
    const mcpRules = mcpLines.length === 0 ? undefined : rulesOf(mcpLines);
    return new IgnoreRules([{ base: directory, lines, rules: rulesOf(lines), mcpRules }, ...this.#levels]);
  }

  /** `path` is relative to the root; that of a directory ends with a slash. */
  verdict(path: string): Verdict {
    for (const { base, rules } of this.#levels) {
      const { ignored, unignored } = rules.test(path.slice(base.length));
      if (ignored) return { isIgnored: true, isExcluded: this.#isExcluded(path), isTakenIn: false };
      if (unignored) return { isIgnored: false, isExcluded: false, isTakenIn: this.#isTakenIn(path) };
    }
    return NOT_MENTIONED;
  }

  /**
   * The rules for the content of a directory that is entered. For the library, everything in a directory that a level
   * ignores is ignored; if a nearer level includes the directory again, git checks each entry instead.
   */
  entering(directory: string): IgnoreRules {
    if (!this.#levels.some(({ base, rules }) => rules.test(directory.slice(base.length)).ignored))
      return this;
    const levels = this.#levels.map((level) => {
      const inLevel = directory.slice(level.base.length);
      if (!level.rules.test(inLevel).ignored) return level;
      const lines = [...level.lines, `!/${inLevel.replace(/[\\*?[\] ]/g, '\\$&')}`];
      return { ...level, lines, rules: rulesOf(lines) };
    });
    return new IgnoreRules(levels);
  }

  #isExcluded(path: string): boolean {
    return this.#levels.some(
      ({ base, mcpRules }) => mcpRules?.test(path.slice(base.length)).ignored === true,
    );
  }

  #isTakenIn(path: string): boolean {
    return this.#levels.some(
      ({ base, mcpRules }) => mcpRules?.test(path.slice(base.length)).unignored === true,
    );
  }
}

const NOT_MENTIONED: Verdict = { isIgnored: false, isExcluded: false, isTakenIn: false };

function linesOf(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/, MAX_LINES);
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(REPEATED_GLOBSTARS, '$1**/'))
    .filter((line) => isBounded(line));
}

/** `**` several times in a row means the same as once. */
const REPEATED_GLOBSTARS = /(^!?|\/)(?:\*\*\/){2,}/g;

function isBounded(line: string): boolean {
  return line.length <= MAX_LINE_LENGTH && (line.match(GLOBSTAR)?.length ?? 0) <= MAX_GLOBSTARS;
}

/** Joined, because the library treats each line of an array as one that may end with a line break. */
function rulesOf(lines: readonly string[]): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true }).add(lines.join('\n'));
}
