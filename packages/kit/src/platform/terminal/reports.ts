import { extname, resolve } from 'node:path';
import { err, ok, type Result } from '../../result.ts';
import { writeAtomically } from '../files.ts';
import { printText } from './print.ts';

/** A report that `--report` asks for. */
export interface WantedReport<F extends string> {
  readonly format: F;
  /** Where it is written; undefined for stdout. */
  readonly file: string | undefined;
}

/** The formats of a command, with the ending of a file by which each is chosen, if there is one. */
export type ReportEndings<F extends string> = Readonly<Record<F, string | undefined>>;

/** Only this user may read them: they may hold arguments of recorded calls. */
const FILE_MODE = 0o600;

/** Parses `FORMAT=FILE`, `FORMAT=-` for stdout, or a file whose ending says the format. The error is a phrase. */
export function parseReports<F extends string>(
  texts: readonly string[],
  endings: ReportEndings<F>,
): Result<readonly WantedReport<F>[], string> {
  const formats = Object.keys(endings) as F[]; // its type
  const reports: WantedReport<F>[] = [];
  for (const text of texts) {
    const named = formats.find((format) => text.startsWith(`${format}=`));
    const file = named === undefined ? text : text.slice(named.length + 1);
    const format =
      named ?? formats.find((one) => endings[one] !== undefined && endings[one] === extname(file));
    if (format === undefined || file === '') return err(`--report: ${text} ${sayForms(formats, endings)}`);
    reports.push({ format, file: file === '-' ? undefined : file });
  }
  const targets = reports.map(({ file }) => (file === undefined ? '-' : resolve(file)));
  const twice = targets.find((target, at) => targets.indexOf(target) !== at);
  return twice === undefined ? ok(reports) : err(`--report: two reports would be written to ${twice}`);
}

function sayForms<F extends string>(formats: readonly F[], endings: ReportEndings<F>): string {
  const known = formats.flatMap((format) => endings[format] ?? []);
  return `must be FORMAT=FILE with ${formats.join(', ')}, or end with ${known.join(', ')}`;
}

/** Writes each report. The error names the file that could not be written. */
export async function writeReports<F extends string>(
  reports: readonly WantedReport<F>[],
  format: (format: F) => string | Promise<string>,
): Promise<Result<undefined, { readonly file: string; readonly problem: string }>> {
  for (const { format: wanted, file } of reports) {
    const text = (await format(wanted)).trimEnd();
    if (file === undefined) {
      printText(text);
      continue;
    }
    const written = await writeAtomically(resolve(file), `${text}\n`, FILE_MODE);
    if (!written.ok) return err({ file, problem: written.error.reason });
  }
  return ok(undefined);
}
