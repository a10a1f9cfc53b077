import type { FilterFault } from './filter.ts';
import { MOST_LEVELS } from './nesting.ts';
import { quotedAnswer } from './quoted-answer.ts';

export interface Filtering {
  readonly expression: string;
  /** How sentences call the request. */
  readonly request: string;
  /** The answer. */
  readonly text: string;
}

/** Why a filter gave no result, as a sentence for the model. Where the request may have had an effect, that is said first. */
export function filterFailure(fault: FilterFault, { expression, request, text }: Filtering): string {
  const filter = `its filter ${shownExpression(expression)}`;
  const done = `The request ${request} was carried out, but`;
  switch (fault.code) {
    case 'not_json':
      return `The filter works on JSON, which the answer to ${request} is not. ${quotedAnswer(text)}`;
    case 'not_fitting':
      return `The filter does not fit the answer to ${request}: ${fault.reason}. ${quotedAnswer(text)}`;
    case 'answer_too_deep':
      return `${done} its answer nests deeper than ${MOST_LEVELS} levels, which is not read.`;
    case 'result_too_deep':
      return `${done} ${filter} gives a result nested deeper than ${MOST_LEVELS} levels. ${SIMPLIFY}`;
    case 'result_too_large':
      return `${done} ${filter} gives more than the allowed ${fault.mostCharacters} characters. ${SIMPLIFY}`;
    case 'too_slow':
      return `${done} ${filter} did not finish within ${fault.limitMs / 1_000} s and was stopped. ${SIMPLIFY}`;
    case 'out_of_memory':
      return `${done} ${filter} needed more than ${fault.limitMiB} MiB of memory and was stopped. ${SIMPLIFY}`;
    case 'queue_full':
      return `${done} ${filter} was not applied, as too many answers wait for filters. Try again later.`;
    case 'process_ended':
      return `${done} ${filter} was not applied: the process that evaluates filters ${fault.cause}.`;
  }
}

const SIMPLIFY = 'Simplify the filter, or request less.';

const MOST_SHOWN = 100;

function shownExpression(expression: string): string {
  const isLong = expression.length > MOST_SHOWN;
  return `${JSON.stringify(expression.slice(0, MOST_SHOWN))}${isLong ? '…' : ''}`;
}
