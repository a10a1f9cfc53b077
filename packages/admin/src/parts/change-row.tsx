import { useState, type ReactNode } from 'react';
import type { AuditEntry, AuditEvent } from '../../../gateway/src/api/audit-event.ts';
import { HostileText } from './hostile-text.tsx';
import { When } from './when.tsx';

export function ChangeRow({ entry }: { readonly entry: AuditEntry }): ReactNode {
  if (!('reason' in entry)) return <ReadableChange event={entry} />;
  return (
    <div className="row">
      <span className="badge risk-write">Changed</span>
      <span className="grow">
        Entry {entry.id} cannot be read: <HostileText text={entry.reason} />.
      </span>
    </div>
  );
}

/** A change on one line; before and after on demand. */
function ReadableChange({ event }: { readonly event: AuditEvent }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { action, target, subject, at, before, after } = event;
  const hasDetail = before !== undefined || after !== undefined;
  return (
    <div>
      <div className="row change">
        <span className="badge mono">
          <HostileText text={action} />
        </span>
        <span className="grow">
          <HostileText text={target.name} />
        </span>
        <span className="quiet">
          <HostileText text={subject} />
        </span>
        <span className="quiet wide">
          <When at={at} />
        </span>
        {hasDetail && (
          <button
            type="button"
            className="link"
            data-row
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            Details
          </button>
        )}
      </div>
      {isOpen && (
        <div className="compare">
          <Side label="Before" value={before} />
          <Side label="After" value={after} />
        </div>
      )}
    </div>
  );
}

function Side({ label, value }: { readonly label: string; readonly value: unknown }): ReactNode {
  return (
    <div>
      <div className="quiet small">{label}</div>
      <pre className="arguments" tabIndex={0} aria-label={label}>
        {value === undefined ? '–' : <HostileText text={JSON.stringify(value, null, 2)} />}
      </pre>
    </div>
  );
}
