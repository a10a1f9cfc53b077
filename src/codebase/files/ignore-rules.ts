import ignore, { type Ignore } from 'ignore';

/** The ignore files of one directory, in the order in which later lines win. */
export interface IgnoreTexts {
  /** `.git/info/exclude`, at the root only. */
  readonly exclude?: string | undefined;
  readonly gitignore?: string | undefined;
  /** Read as further lines of the `.gitignore` beside it. */
  readonly mcpignore?: string | undefined;
}

export interface Verdict {
  readonly isIgnored: boolean;
  /** A `.mcpignore` takes it in by a line with `!`, which also overrides what is skipped by default. */
  readonly isTakenIn: boolean;
}

interface Level {
  /** The directory of the files, relative to the root: empty, or with a slash at its end. */
  readonly base: string;
  readonly lines: readonly string[];
  readonly rules: Ignore;
  readonly mcpRules: Ignore | undefined;
}

/** Lines of one directory's ignore files; what follows is not applied. */
const MAX_LINES = 10_000;
/** No path is longer, so neither is a pattern that matches one. */
const MAX_LINE_LENGTH = 4_096;
/**
 * `**` as a part of a pattern. Each tries all levels of a path, for each level that those before it tried: a dozen of
 * them would take minutes for one deep path. A pattern with more is not applied.
 */
const MAX_GLOBSTARS = 3;
const GLOBSTAR = /(?:^|\/)\*\*+(?=\/|$)/g;

/**
 * The ignore rules that apply in one directory: its own and those of the directories around it, of which the nearest
 * that decides wins, as in git. A directory that is ignored must not be entered.
 */
export class IgnoreRules {
  static readonly NONE: IgnoreRules = new IgnoreRules([]);
  /** From the innermost directory outwards. */
  readonly #levels: readonly Level[];

  private constructor(levels: readonly Level[]) {
    this.#levels = levels;
  }

  /** The rules inside `directory`, given as for `verdict`. */
  within(directory: string, { exclude, gitignore, mcpignore }: IgnoreTexts): IgnoreRules {
    const mcpLines = linesOf(mcpignore);
    const lines = [...linesOf(exclude), ...linesOf(gitignore), ...mcpLines];
    if (lines.length === 0) return this;
    const mcpRules = mcpLines.length === 0 ? undefined : rulesOf(mcpLines);
    return new IgnoreRules([{ base: directory, lines, rules: rulesOf(lines), mcpRules }, ...this.#levels]);
  }

  /** `path` is relative to the root; that of a directory ends with a slash. */
  verdict(path: string): Verdict {
    for (const { base, rules } of this.#levels) {
      const { ignored, unignored } = rules.test(path.slice(base.length));
      if (ignored) return { isIgnored: true, isTakenIn: false };
      if (unignored) return { isIgnored: false, isTakenIn: this.#isTakenIn(path) };
    }
    return NOT_MENTIONED;
  }

  /**
   * The rules for what is inside a directory that is entered. The library takes whatever is in a directory that a level
   * ignores for ignored; where a nearer level took the directory in, git asks about each entry instead.
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

  #isTakenIn(path: string): boolean {
    return this.#levels.some(
      ({ base, mcpRules }) => mcpRules?.test(path.slice(base.length)).unignored === true,
    );
  }
}

const NOT_MENTIONED: Verdict = { isIgnored: false, isTakenIn: false };

function linesOf(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/, MAX_LINES);
  return lines.filter((line) => line !== '' && !line.startsWith('#') && isBounded(line));
}

function isBounded(line: string): boolean {
  return line.length <= MAX_LINE_LENGTH && (line.match(GLOBSTAR)?.length ?? 0) <= MAX_GLOBSTARS;
}

/** Joined, because the library reads a line of an array as one that may end with a line break. */
function rulesOf(lines: readonly string[]): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true }).add(lines.join('\n'));
}
