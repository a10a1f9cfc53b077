import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import type { Approval } from '../../../../gateway/src/api/approval.ts';
import { answer, approvalQuery, type Answer } from '../../state/approvals.ts';
import { ApprovalArguments } from '../approval-arguments.tsx';
import { HostileText } from '../hostile-text.tsx';
import { useKeys } from '../keys.ts';
import { Failed } from '../states.tsx';

interface RunQuestionProps {
  readonly question: Approval;
  readonly onAnswered: () => void;
}

/** Asks the user to approve a call that they started on this page. */
export function RunQuestion({ question, onAnswered }: RunQuestionProps): ReactNode {
  const box = useRef<HTMLElement>(null);
  // Neither button gets the focus: pressing Enter twice to run must not approve the call.
  useEffect(() => box.current?.focus(), []);
  const now = useQuery(approvalQuery(question.id));
  const isOpen = now.data === undefined || now.data.state === 'pending';
  useEffect(() => {
    if (!isOpen) onAnswered();
  }, [isOpen, onAnswered]);
  const answering = useMutation({
    mutationFn: (given: Answer) => answer(question, given),
    onSuccess: onAnswered,
  });
  const approve = (scope: 'once' | 'always'): void => answering.mutate({ kind: 'approve', scope });
  const deny = (): void => answering.mutate({ kind: 'deny', reason: '' });
  useKeys({ a: () => approve('once'), d: deny });
  const isBusy = answering.isPending;
  return (
    <section ref={box} className="question" tabIndex={-1} aria-labelledby="question-title">
      <h2 id="question-title">Send this call?</h2>
      <dl>
        <dt>Reasons</dt>
        <dd>
          {question.why.map((text) => (
            <div key={text}>
              <HostileText text={text} />
            </div>
          ))}
        </dd>
        <dt>Arguments</dt>
        <dd>
          <ApprovalArguments approval={question} label="Arguments of the call" />
        </dd>
      </dl>
      {answering.isError && <Failed error={answering.error} />}
      <div className="buttons">
        <Button variant="default" disabled={isBusy} onClick={deny}>
          Deny{' '}
          <kbd className="in-button" aria-hidden>
            d
          </kbd>
        </Button>
        <Button disabled={isBusy} onClick={() => approve('once')}>
          Approve once{' '}
          <kbd className="in-button" aria-hidden>
            a
          </kbd>
        </Button>
        {question.scopes.includes('always') ? (
          <Button variant="default" disabled={isBusy} onClick={() => approve('always')}>
            Approve always
          </Button>
        ) : (
          <span className="quiet small">Every call of this tool needs an approval.</span>
        )}
      </div>
    </section>
  );
}
