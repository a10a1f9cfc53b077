/** What stands for a value in an entry: it is read when its server is connected, and never stored with the entry. */
export type ValueReference =
  | { readonly kind: 'secret'; readonly name: string }
  /** An absolute path. */
  | { readonly kind: 'file'; readonly path: string }
  /** A program that prints the value, with its arguments. */
  | { readonly kind: 'command'; readonly argv: readonly [string, ...string[]] };

/** A value whose references are still to be replaced. */
export interface EntryReference {
  readonly member: 'env' | 'headers' | 'headerCommand' | 'proxy';
  /** Of the variable or header; `*` for the headers that a command prints; of a proxy: `proxy`. */
  readonly name: string;
  readonly parts: readonly (string | ValueReference)[];
}

/** Also the name of a variable, so that one can replace the other. */
const SECRET_NAME = /^[A-Za-z_][\w.-]{0,63}$/;
const MAX_ARGUMENTS = 64;
const MAX_REFERENCE_LENGTH = 4_096;

/** Why a text cannot name a secret, as the end of a sentence. */
export function findSecretNameFault(name: string): string | undefined {
  return SECRET_NAME.test(name)
    ? undefined
    : 'it takes 1 to 64 letters, digits, "_", "." and "-", and begins with a letter or "_"';
}

/** Whether a text contains a reference, valid or not. */
export function hasReference(text: string): boolean {
  return /\$\{(?:secret|file|command):/.test(text);
}

/** Reads the inside of `${…}`. Undefined if it is no reference; a string says why it is not valid. */
export function readReference(
  inner: string,
  toAbsolute: (path: string) => string,
): ValueReference | string | undefined {
  const [, kind, rest = ''] = /^(secret|file|command):(.*)$/s.exec(inner) ?? [];
  if (kind === undefined) return undefined;
  if (rest.length > MAX_REFERENCE_LENGTH) return `it is longer than ${MAX_REFERENCE_LENGTH} characters`;
  // What a reference leads to must be seen in the entry.
  if (rest.includes('${')) return 'a reference cannot contain another one, nor a variable';
  switch (kind) {
    case 'secret': {
      const fault = findSecretNameFault(rest);
      return fault === undefined ? { kind, name: rest } : `this is not the name of a secret: ${fault}`;
    }
    case 'file':
      return rest.trim() === '' || rest.includes('\0')
        ? 'the path of the file is missing'
        : { kind, path: toAbsolute(rest) };
    default:
      return readCommand(rest);
  }
}

/** The words of a command, or why they are none. */
export function toCommandReference(words: unknown): ValueReference | string {
  const isList = Array.isArray(words) && words.every((word) => typeof word === 'string');
  const [program, ...args] = isList ? (words as readonly string[]) : [];
  if (program === undefined || program.trim() === '')
    return 'a command is a JSON array of strings: ["op", "read", "op://vault/item/field"]';
  if (args.length >= MAX_ARGUMENTS) return `a command has at most ${MAX_ARGUMENTS} words`;
  if ([program, ...args].some((word) => word.includes('\0') || hasReference(word)))
    return 'a word of a command contains a NUL character or a reference';
  return { kind: 'command', argv: [program, ...args] };
}

function readCommand(text: string): ValueReference | string {
  try {
    return toCommandReference(JSON.parse(text));
  } catch {
    return toCommandReference(undefined);
  }
}

/** How the member that has a reference is named, such as `env.TOKEN`. */
export function formatReferenceMember({ member, name }: Pick<EntryReference, 'member' | 'name'>): string {
  return member === 'proxy' || member === 'headerCommand' ? member : `${member}.${name}`;
}

/** A reference as it is written, for people: it holds no secret. */
export function formatReference(reference: ValueReference): string {
  switch (reference.kind) {
    case 'secret':
      return `\${secret:${reference.name}}`;
    case 'file':
      return `\${file:${reference.path}}`;
    case 'command':
      return `\${command:${JSON.stringify(reference.argv)}}`;
  }
}
