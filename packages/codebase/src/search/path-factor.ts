import { listIndexedTerms } from '../terms.ts';
import type { Candidate } from './candidates.ts';
import type { ParsedQuery } from './parse-query.ts';

/** Factors for the scores of files that seldom hold the answer, unless the query asks for them. */
export interface PathFactors {
  /** Copies of other projects, such as those in `vendor`. */
  readonly vendored: number;
  /** Licences, changelogs, other documents, and data. */
  readonly document: number;
  /** Benchmarks, examples, documentation and demonstrations. */
  readonly supporting: number;
}

/** Whether a path is in a directory of copies of other projects. */
export function isVendored(path: string): boolean {
  return listDirectories(path).some((name) => VENDORED.has(name));
}

function listDirectories(path: string): readonly string[] {
  return path.toLowerCase().split('/').slice(0, -1);
}

/** The factor of each path for a query. A word of the query that is also one of the path's directory asks for it. */
export function createPathFactor(
  { words }: Pick<ParsedQuery, 'words'>,
  factors: PathFactors,
): (candidate: Pick<Candidate, 'path' | 'language'>) => number {
  const asked = new Set(words);
  const asksForDocuments = words.some((word) => ABOUT_DOCUMENTS.has(word));
  const known = new Map<string, number>();
  return ({ path, language }) => {
    let factor = known.get(path);
    if (factor === undefined) {
      const directories = listDirectories(path);
      const has = (names: ReadonlySet<string>): boolean =>
        directories.some(
          (name) => names.has(name) && !listIndexedTerms(name).some((word) => asked.has(word)),
        );
      const isDocument =
        (language === 'text' || DOCUMENT_NAME.test(path)) && !asksForDocuments && !asksForFile(path, asked);
      factor =
        (has(VENDORED) ? factors.vendored : 1) *
        (isDocument ? factors.document : 1) *
        (has(SUPPORTING) ? factors.supporting : 1);
      known.set(path, factor);
    }
    return factor;
  };
}

const VENDORED = new Set(
  'deps vendor vendored third_party third-party thirdparty external externals'.split(' '),
);
const SUPPORTING = new Set(
  'bench benches benchmark benchmarks example examples sample samples doc docs documentation demo demos'.split(
    ' ',
  ),
);
const DOCUMENT_NAME =
  /(?:^|[/])(?:licen[cs]e|copying|notice|change(?:s|log)|history|news|authors|contributors|code[-_]of[-_]conduct|security)(?:[.][a-z]+)?$/i;
const ABOUT_DOCUMENTS = new Set(
  'license licence licenses copyright changelog readme documentation docs document guide tutorial markdown release releases'.split(
    ' ',
  ),
);

/** Whether the query names the type of the file, or all of its name: "package json" asks for `package.json`. */
function asksForFile(path: string, asked: ReadonlySet<string>): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return asked.has(name.slice(name.lastIndexOf('.') + 1));
}
