/**
 * How to write a command that contains its arguments, such as "npx -y foo". Undefined for a plain program, and for a path,
 * in which spaces are common. Arguments beyond the first word without a dash are left out: they may be secret.
 */
export function splitCommandRemedy(command: string): string | undefined {
  const [program = '', ...words] = command.trim().split(/\s+/);
  if (words.length === 0 || /[/\\~$]/.test(program)) return undefined;
  const end = words.findIndex((word) => !word.startsWith('-') || word.includes('='));
  const isPlain = end >= 0 && PLAIN.test(words[end] ?? '');
  const shown = words.slice(0, end < 0 ? words.length : isPlain ? end + 1 : end).slice(0, MAX_SHOWN);
  const rest = shown.length < words.length ? ', …' : '';
  const args = shown.length === 0 ? '…' : `${shown.map((word) => JSON.stringify(word)).join(', ')}${rest}`;
  return `Write "command": ${JSON.stringify(program)}, "args": [${args}].`;
}

const MAX_SHOWN = 5;

/** The name of a package, file or subcommand. */
const PLAIN = /^[\w@./:-]{1,60}$/;
