import { createRequire } from 'node:module';

type AnyAscii = (text: string) => string;

let anyAscii: AnyAscii | undefined;

/** The text in ASCII, such as "ChaXun" for "查询"; characters without a form there are left out. */
export function transliterate(text: string): string {
  return (anyAscii ??= loadTable())(text);
}

/** Synchronously and on first use: the table is half a megabyte, and few names need it. */
function loadTable(): AnyAscii {
  const require = createRequire(import.meta.url);
  const load = (id: string): AnyAscii => (require(id) as { readonly default: AnyAscii }).default;
  try {
    return load('./any-ascii/any-ascii.js'); // where the build puts it
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return load('any-ascii');
  }
}
