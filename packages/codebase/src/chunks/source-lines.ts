/** The lines of a text, each ended by `\n`. An empty last line does not count. */
export class SourceLines {
  readonly #text: string;
  /** The offset of each line, and of the end of the text. */
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#text = text;
    const starts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    if (starts.at(-1) !== text.length) starts.push(text.length + 1);
    this.#starts = starts;
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  /** Without the last line break. */
  text(firstRow: number, lastRow: number): string {
    return this.#text.slice(this.#start(firstRow), this.#start(lastRow + 1) - 1);
  }

  /** Number of characters, including line breaks. */
  length(firstRow: number, lastRow: number): number {
    return this.#start(lastRow + 1) - this.#start(firstRow);
  }

  isBlank(firstRow: number, lastRow: number): boolean {
    return !/\S/.test(this.text(firstRow, lastRow));
  }

  /** Whether the line is blank or only closes what is above it. */
  isClosing(row: number): boolean {
    return this.length(row, row) <= MAX_CLOSING_LENGTH && CLOSING.test(this.text(row, row));
  }

  /** Number of white-space characters at the start of the line. */
  indent(row: number): number {
    const end = this.#start(row + 1) - 1;
    let at = this.#start(row);
    const start = at;
    while (at < end && (this.#text[at] === ' ' || this.#text[at] === '\t')) at += 1;
    return at - start;
  }

  #start(row: number): number {
    return this.#starts[row] ?? this.#text.length + 1;
  }
}

const MAX_CLOSING_LENGTH = 80;
const CLOSING = /^[\s{}()[\];,]*(?:end|endif|#endif|fi|done|esac)?[\s;]*$/;
