/** True for a word that says nothing about a piece of code: an English function word, or a keyword that is everywhere. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

const ENGLISH = `
  a about after all also am an and any are aren as at be because been before being both but by can cannot could did do does doing
  don done each either else etc every few for from further had has have having he her here hers him his how i if in into is isn it its
  itself just ll may me might more most must my no nor not now of off on once only onto or other our out over own per please
  re s same shall she should since so some such than that the their them then there these they this those through to too under
  until up upon us use used uses using ve very via want was we well were what when where whether which while who whom whose
  why will with within without would you your
`;

const KEYWORDS = `
  auto bool boolean const def elif elsif endif esac extends false fi final fn func function func implements int let
  mut nil none null private protected pub public return returns self static struct super undefined true var void
`;

const STOP_WORDS: ReadonlySet<string> = new Set(`${ENGLISH} ${KEYWORDS}`.trim().split(/\s+/));
