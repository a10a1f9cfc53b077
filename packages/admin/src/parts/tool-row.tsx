import { BookOpenCheck, FlaskConical, Globe, RefreshCw, TriangleAlert } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import type { ToolRow } from '../state/tools.ts';
import { HINT_CARD_ID, isInHintCard } from './hint-card.tsx';
import { HostileText } from './hostile-text.tsx';
import { RISK_LABELS } from './risk-badge.tsx';
import { Switch } from './switch.tsx';

export interface RowActions {
  readonly onOpen: (id: string) => void;
  readonly onSwitch: (id: string, enabled: boolean) => void;
  /** `badge` is undefined when none is hovered or focused any more. */
  readonly onBadge: (row: ToolRow, badge: HTMLElement | undefined) => void;
}

interface ToolRowProps {
  readonly row: ToolRow;
  readonly mayChange: boolean;
  /** Whether its annotations are shown. */
  readonly isExplained: boolean;
  /** The same object at each render, so that an unchanged row is not rendered again. */
  readonly actions: RowActions;
}

export const ToolRowView = memo(function ToolRowView(props: ToolRowProps): ReactNode {
  const { row, mayChange, actions } = props;
  return (
    // For the pointer; the keyboard has the link.
    <div
      className="row"
      data-off={row.state !== 'enabled'}
      onClick={({ target }) => isControl(target) || actions.onOpen(row.id)}
    >
      <span className="grow name">
        <a
          href={`?tool=${encodeURIComponent(row.id)}`}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            actions.onOpen(row.id);
          }}
        >
          <HostileText text={row.title} />
        </a>{' '}
        <code className="quiet">
          <HostileText text={row.name} />
        </code>
      </span>
      {row.drift !== 'none' && (
        <span className={row.drift === 'dangerous' ? 'badge risk-destructive' : 'badge risk-write'}>
          Changed
        </span>
      )}
      <Badges {...props} />
      {row.state === 'withheld' ? (
        <span className="badge">Withheld</span>
      ) : (
        <Switch
          label={`${row.name} is on`}
          isOn={row.state === 'enabled'}
          isDisabled={!mayChange}
          onChange={(isOn) => actions.onSwitch(row.id, isOn)}
        />
      )}
    </div>
  );
});

/** What handles a click itself. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input') !== null;
}

/** Each icon has a label with its meaning. */
function Badges({ row, isExplained, actions }: ToolRowProps): ReactNode {
  const explain = (badge: HTMLElement | undefined) => actions.onBadge(row, badge);
  return (
    <>
      {row.isContradicted && (
        <span className="mark warn" title="Its hints are contradicted">
          <TriangleAlert size={14} aria-label="Contradicted" />
        </span>
      )}
      {row.isConsistent && (
        <span className="mark" title="A verification saw it do what its hints say">
          <FlaskConical size={14} aria-label="Observed to be consistent" />
        </span>
      )}
      {row.studied !== undefined && (
        <span className="mark" title={`In the study that ships with Assay, ${row.studied}`}>
          <BookOpenCheck size={14} aria-label={`Studied: ${row.studied}`} />
        </span>
      )}
      {row.hints.openWorldHint.effective && (
        <span className="mark" title="Open world: it may reach external systems">
          <Globe size={14} aria-label="Open world" />
        </span>
      )}
      {row.risk !== 'read_only' && row.hints.idempotentHint.effective && (
        <span
          className="badge idempotent"
          title="Idempotent: repeating a call with the same arguments has no further effect"
        >
          <RefreshCw size={14} className="narrow" aria-label="Idempotent" />
          <span className="wide">Idempotent</span>
        </span>
      )}
      <button
        type="button"
        className={`badge risk-${row.risk}`}
        aria-describedby={isExplained ? HINT_CARD_ID : undefined}
        onClick={() => actions.onOpen(row.id)}
        onPointerEnter={({ currentTarget }) => explain(currentTarget)}
        onPointerLeave={({ relatedTarget }) => isInHintCard(relatedTarget) || explain(undefined)}
        onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && explain(currentTarget)}
        onBlur={() => explain(undefined)}
      >
        {RISK_LABELS[row.risk]}
      </button>
    </>
  );
}
