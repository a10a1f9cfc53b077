import { facesOf } from '../../core/errors.ts';
import { sentenceOf } from '../../core/sentences.ts';
import type { Refusal } from '../../core/refusal.ts';
import { printError } from './output.ts';

/** Says on stderr what was refused; gives the exit code. */
export function complain(refusal: Refusal): number {
  printError(`assay: ${sentenceOf(refusal)}`);
  return facesOf(refusal).exit;
}
