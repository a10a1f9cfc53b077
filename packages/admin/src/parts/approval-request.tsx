import { Button, TextInput } from '@mantine/core';
import { Eye, TriangleAlert } from 'lucide-react';
import { useState, type ReactNode, type Ref } from 'react';
import type { Approval, ApprovalScope } from '../../../gateway/src/api/approval.ts';
import type { Answer } from '../state/approvals.ts';
import { ApprovalArguments } from './approval-arguments.tsx';
import { HostileText } from './hostile-text.tsx';
import { ServerTrust } from './server-trust.tsx';
import { Failed } from './states.tsx';
import { useNow, When } from './when.tsx';

interface ApprovalRequestProps {
  readonly request: Approval;
  readonly isSelected: boolean;
  readonly isBusy: boolean;
  readonly isDenying: boolean;
  readonly error: unknown;
  readonly onSelect: () => void;
  readonly onDenying: (isDenying: boolean) => void;
  readonly onAnswer: (answer: Answer) => void;
  readonly ref?: Ref<HTMLElement> | undefined;
}

const SCOPE_LABELS: Readonly<Record<ApprovalScope, string>> = {
  once: 'Approve once',
  session: 'Approve for session',
  server: 'For this session and destination server',
  always: 'Always',
};

/** A waiting call: the tool, the caller, the arguments, the reasons, and the time left. */
export function ApprovalRequest(props: ApprovalRequestProps): ReactNode {
  const { request, isSelected, error } = props;
  const [first = 'This call needs an approval.', ...rest] = request.why;
  const isCalm = request.hints.some(({ hint, value }) => hint === 'readOnlyHint' && value);
  return (
    <article
      ref={props.ref}
      className="request"
      data-risk={isCalm ? 'read_only' : 'destructive'}
      data-selected={isSelected}
      aria-label={`Call of ${request.namespacedName}`}
      onClick={props.onSelect}
    >
      <p className={isCalm ? 'warning calm' : 'warning'}>
        {isCalm ? <Eye size={16} aria-hidden /> : <TriangleAlert size={16} aria-hidden />}
        <span>
          <strong>
            <HostileText text={first} />
          </strong>
          {rest.length > 0 && (
            <>
              {' '}
              <HostileText text={rest.join(' ')} />
            </>
          )}
        </span>
      </p>
      <div>
        <div className="about">
          <h2>
            <HostileText text={request.title ?? request.tool} />
          </h2>
          <code>
            <HostileText text={request.namespacedName} />
          </code>
          <span className="quiet small">
            asked <When at={request.createdAt} />
            <Remaining expiresAt={request.expiresAt} />
          </span>
        </div>
        <Details request={request} />
        {error !== undefined && <Failed error={error} />}
      </div>
      {props.isDenying ? <DenyForm {...props} /> : <Actions {...props} />}
    </article>
  );
}

function Details({ request }: { readonly request: Approval }): ReactNode {
  return (
    <dl>
      <dt>Asked by</dt>
      <dd>
        <HostileText text={request.subject} />
        {request.client !== undefined && (
          <span className="quiet">
            {' '}
            with <HostileText text={formatClient(request.client)} />
          </span>
        )}
      </dd>
      {request.scopes.includes('server') && (
        <>
          <dt>Destination server</dt>
          <dd>
            <HostileText text={request.server} />
          </dd>
        </>
      )}
      <dt>Arguments</dt>
      <dd>
        <ApprovalArguments approval={request} label="Arguments" />
      </dd>
      <dt>Hints</dt>
      <dd className="small">
        {request.hints.map(({ hint, value, reason }) => (
          <div key={hint}>
            <code>{hint}</code> {String(value)}{' '}
            <span className="quiet">
              (<HostileText text={reason} />)
            </span>
          </div>
        ))}
      </dd>
    </dl>
  );
}

function Remaining({ expiresAt }: { readonly expiresAt: string | undefined }): ReactNode {
  const now = useNow(1_000);
  if (expiresAt === undefined) return null;
  const seconds = Math.max(0, Math.round((Date.parse(expiresAt) - now) / 1_000));
  const left = seconds >= 120 ? `${Math.round(seconds / 60)} min` : `${seconds} s`;
  return <>, {seconds === 0 ? 'expired' : `expires in ${left}`}</>;
}

function Actions({ request, isBusy, isSelected, onDenying, onAnswer }: ApprovalRequestProps): ReactNode {
  return (
    <div className="actions">
      {request.distrusted !== undefined && (
        <ServerTrust
          server={request.distrusted}
          also={{
            label: 'Trust them and approve this call',
            onTrusted: () => onAnswer({ kind: 'approve', scope: 'once' }),
          }}
        />
      )}
      <Button variant="default" disabled={isBusy} onClick={() => onDenying(true)}>
        Deny {isSelected && <Key name="d" />}
      </Button>
      {[...request.scopes].reverse().map((scope) => (
        <Button
          key={scope}
          variant={scope === 'once' ? 'filled' : 'default'}
          loading={isBusy && scope === 'once'}
          disabled={isBusy}
          onClick={() => onAnswer({ kind: 'approve', scope })}
        >
          {SCOPE_LABELS[scope]} {scope === 'once' && isSelected && <Key name="a" />}
        </Button>
      ))}
    </div>
  );
}

function Key({ name }: { readonly name: string }): ReactNode {
  return (
    <kbd className="in-button" aria-hidden>
      {name}
    </kbd>
  );
}

function DenyForm({ isBusy, onDenying, onAnswer }: ApprovalRequestProps): ReactNode {
  const [reason, setReason] = useState('');
  return (
    <form
      className="deny"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ kind: 'deny', reason: reason.trim() });
      }}
      onKeyDown={(event) => event.key === 'Escape' && onDenying(false)}
    >
      <TextInput
        label="Reason, shown to the model"
        placeholder="Optional"
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        autoFocus
      />
      <Button variant="default" onClick={() => onDenying(false)}>
        Back
      </Button>
      <Button type="submit" color="red" loading={isBusy}>
        Deny
      </Button>
    </form>
  );
}

/** The name and version in the JSON text of a client. */
export function formatClient(json: string): string {
  try {
    const { name, version } = JSON.parse(json) as { readonly name?: unknown; readonly version?: unknown };
    if (typeof name === 'string') return typeof version === 'string' ? `${name} ${version}` : name;
  } catch {
    // Shown unchanged.
  }
  return json;
}
