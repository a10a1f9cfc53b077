import { refuseQuestion } from './askers.ts';
import type { Offer, Question } from './ports.ts';
import { LOCAL } from '../core/subject.ts';

/**
 * A client that can do everything and has nothing. Some servers list tools only to a client that can be asked, so their
 * lists are read in its name; calls never are.
 */
export const EMPTY_CLIENT: Offer = {
  capabilities:
    '{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}',
  clientInfo: undefined,
  subject: LOCAL.subject,
};

/** It has no roots, and answers nothing else. */
export function answerEmpty(question: Question): void {
  if (question.message.method === 'roots/list') question.answer({ kind: 'result', text: '{"roots":[]}' });
  else refuseQuestion(question);
}
