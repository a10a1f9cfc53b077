import { facesOf, sentenceOf, type Refusal } from '../../core/errors.ts';

/** Says on stderr what was refused; gives the exit code. */
export function complain(refusal: Refusal): number {
  console.error(`assay: ${sentenceOf(refusal)}`);
  return facesOf(refusal).exit;
}
