import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Approval } from '../../../gateway/src/api/approval.ts';
import { approvalQuery } from '../state/approvals.ts';
import { HostileText } from './hostile-text.tsx';
import { Failed } from './states.tsx';

interface ApprovalArgumentsProps {
  readonly approval: Approval;
  readonly label: string;
}

/** The arguments of a call that waits. Long ones are opened in full on request; what is missing is said. */
export function ApprovalArguments({ approval, label }: ApprovalArgumentsProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const isLong = approval.isShortened;
  const full = useQuery({ ...approvalQuery(approval.id), enabled: isOpen && isLong });
  const shown = (isOpen ? full.data : undefined) ?? approval;
  return (
    <>
      <pre className="arguments" tabIndex={0} aria-label={label}>
        <HostileText text={indented(shown.arguments)} />
        {shown.isShortened && '\n… shortened'}
      </pre>
      {shown.isMasked && <p className="quiet small">Secrets that Assay knows are masked.</p>}
      {isLong && shown === approval && (
        <Button variant="default" size="compact-sm" loading={full.isFetching} onClick={() => setOpen(true)}>
          Show all
        </Button>
      )}
      {full.isError && <Failed error={full.error} onRetry={() => void full.refetch()} />}
      {shown !== approval && shown.isShortened && (
        <p className="small">The arguments are longer than 256 KiB. The rest cannot be shown.</p>
      )}
    </>
  );
}

/** Formats JSON on several lines. Text that is not JSON, or that formatting would change, is returned unchanged. */
function indented(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return JSON.stringify(value) === json ? JSON.stringify(value, null, 2) : json;
  } catch {
    return json;
  }
}
