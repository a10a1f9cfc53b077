import { useLayoutEffect, useRef, type ReactNode } from 'react';
import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { ToolSummary } from '../../../gateway/src/api/tool.ts';
import { HINT_LABELS, type ToolRow } from '../state/tools.ts';
import { HostileText } from './hostile-text.tsx';

type Origin = ToolSummary['hints'][Hint]['decidedBy'];

const ORIGINS: Readonly<Record<Origin, string>> = {
  declared: 'declared by its server',
  inferred: 'inferred from its request',
  override: 'overridden by an operator',
  observed: 'observed in a call',
  implied: 'implied by another hint',
  default: 'default of the specification',
};

export const HINT_CARD_ID = 'hint-card';
const MARGIN_PX = 8;

export function isInHintCard(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(`#${HINT_CARD_ID}`) !== null;
}

interface HintCardProps {
  readonly row: ToolRow;
  readonly badge: HTMLElement;
  readonly onClose: () => void;
}

/**
 * All annotations of a tool with their origins, next to its badge without a gap, so that the pointer can move into the
 * card.
 */
export function HintCard({ row, badge, onClose }: HintCardProps): ReactNode {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const place = (): void => {
      const element = card.current;
      if (element === null) return;
      // Its row was scrolled out of view.
      if (!badge.isConnected) return onClose();
      const at = badge.getBoundingClientRect();
      const { offsetWidth, offsetHeight } = element;
      const fits = at.bottom + offsetHeight <= window.innerHeight;
      element.style.top = `${fits ? at.bottom : at.top - offsetHeight}px`;
      element.style.left = `${Math.max(MARGIN_PX, at.right - offsetWidth)}px`;
    };
    place();
    window.addEventListener('scroll', place, true);
    return () => window.removeEventListener('scroll', place, true);
  });
  return (
    <div ref={card} id={HINT_CARD_ID} role="tooltip" className="hint-card" onPointerLeave={onClose}>
      <strong>
        <HostileText text={row.title} />
      </strong>
      <dl>
        {(Object.keys(HINT_LABELS) as Hint[]).map((hint) => {
          const { effective, decidedBy, isContradicted } = row.hints[hint];
          return (
            <div key={hint}>
              <dt>{HINT_LABELS[hint]}</dt>
              <dd>
                {effective ? 'yes' : 'no'}
                <span className="quiet">, {ORIGINS[decidedBy]}</span>
                {isContradicted && <span className="bad">, contradicted by observations</span>}
              </dd>
            </div>
          );
        })}
      </dl>
      {row.lint.length > 0 && (
        <p className="quiet small">Findings: {row.lint.map(({ rule }) => rule).join(', ')}</p>
      )}
    </div>
  );
}
