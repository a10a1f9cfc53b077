import { useState, type ReactNode } from 'react';
import type { AuditEntry } from '../../../src/edges/rest/contract/activity.ts';
import { HostileText } from './hostile-text.tsx';
import { When } from './when.tsx';

/** A change on one line; before and after on demand. */
export function ChangeRow({ entry }: { readonly entry: AuditEntry }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { action, target, subject, at, before, after } = entry;
  const hasDetail = before !== undefined || after !== undefined;
  return (
    <div>
      <div className="row">
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
