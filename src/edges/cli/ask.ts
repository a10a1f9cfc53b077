import { createInterface } from 'node:readline';

/** Whether somebody sits at the terminal and can answer. */
export function hasSomebody(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** What somebody types without seeing it; undefined: he would rather not answer. */
export function askUnseen(question: string): Promise<string | undefined> {
  // Without an output nothing is echoed, and as a terminal the system does not echo either.
  const lines = createInterface({ input: process.stdin, terminal: true });
  // Not before: who answers at once would be seen.
  process.stderr.write(`${question} `);
  return new Promise((resolve) => {
    let answer: string | undefined;
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    lines.once('close', () => {
      process.stderr.write('\n');
      resolve(answer);
    });
  });
}

/** Whether somebody says yes. */
export function askYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(false));
    lines.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim()));
      lines.close();
    });
  });
}
