// How often search finds a right tool within five, over the definitions that `collect.ts` collected:
//   node bench/search/quality.ts            all parts, and what was not found of the part for tuning
//   node bench/search/quality.ts --all      what was not found of any part
import {
  measure,
  openCollected,
  selectQuestions,
} from '../../packages/gateway/test/gateway/search/question-set.ts';

const LIMIT = 5;
const PARTS = [
  ['plain', 'tuning'],
  ['loose', 'tuning'],
  ['plain', 'held out'],
  ['loose', 'held out'],
  ['later', 'held out'],
  ['more', 'tuning'],
  ['idioms', 'held out'],
] as const;

const showsAll = process.argv.includes('--all');
const search = await openCollected();
for (const [words, part] of PARTS) {
  const questions = selectQuestions(words, part);
  const { first, found, missed } = measure(search, questions, LIMIT);
  process.stdout.write(
    `${words}, ${part}: ${String(found)} of ${String(questions.length)} within ${String(LIMIT)}, ${String(first)} first\n`,
  );
  if (showsAll || part === 'tuning')
    for (const { query, tools } of missed)
      process.stdout.write(
        `  ${query}: not ${tools.join(', ')}, but ${search(query).slice(0, LIMIT).join(', ')}\n`,
      );
}
