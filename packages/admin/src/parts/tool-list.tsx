import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useIsAdmin } from '../state/session.ts';
import type { ToolItem } from '../state/tool-filter.ts';
import { setEnabled, toolsQuery, type ToolRow } from '../state/tools.ts';
import { HintCard } from './hint-card.tsx';
import { HostileText } from './hostile-text.tsx';
import { useKeys } from './keys.ts';
import { useRowWindow } from './row-window.ts';
import { Failed } from './states.tsx';
import { ToolRowView, type RowActions } from './tool-row.tsx';

const ROW_HEIGHT_PX = 40;

interface ToolListProps {
  readonly items: readonly ToolItem[];
  readonly collapsed: ReadonlySet<string>;
  /** Collapses a group, or expands it again. */
  readonly onToggle: (group: string) => void;
  readonly onOpen: (id: string) => void;
}

/** Renders only the visible rows. */
export function ToolList({ items, collapsed, onToggle, onOpen }: ToolListProps): ReactNode {
  const [current, setCurrent] = useState(-1);
  const [explained, setExplained] = useState<{ readonly row: ToolRow; readonly badge: HTMLElement }>();
  const isAdmin = useIsAdmin();
  const switching = useSwitch();
  const { box, shown, reveal } = useRowWindow(items.length, ROW_HEIGHT_PX);
  const actions = useActions({
    onOpen,
    onSwitch: (id, enabled) => switching.mutate({ id, enabled }),
    onBadge: (row, badge) => setExplained(badge && { row, badge }),
  });
  const move = (step: 1 | -1): void => {
    let next = current + step;
    while (items[next]?.kind === 'group') next += step;
    if (items[next] === undefined) return;
    setCurrent(next);
    reveal(next);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-at="${next}"] a`)?.focus());
  };
  useKeys({ j: () => move(1), k: () => move(-1), Escape: () => setExplained(undefined) });
  return (
    <>
      {switching.isError && <Failed error={switching.error} />}
      <div className="tool-list" ref={box} tabIndex={-1}>
        <div
          className="inner"
          role="list"
          aria-label="Tools"
          style={{ height: items.length * ROW_HEIGHT_PX }}
        >
          {shown.map((index) => {
            const item = items[index];
            if (item === undefined) return null;
            return (
              <div
                key={index}
                role="listitem"
                aria-setsize={items.length}
                aria-posinset={index + 1}
                data-at={index}
                className="item"
                style={{ transform: `translateY(${index * ROW_HEIGHT_PX}px)` }}
                onFocus={() => setCurrent(index)}
              >
                {item.kind === 'group' ? (
                  <GroupHeading
                    group={item}
                    isCollapsed={collapsed.has(item.name)}
                    onToggle={() => onToggle(item.name)}
                  />
                ) : (
                  <ToolRowView
                    row={item.row}
                    mayChange={isAdmin}
                    isExplained={explained?.row.id === item.row.id}
                    actions={actions}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {explained !== undefined && <HintCard {...explained} onClose={() => setExplained(undefined)} />}
    </>
  );
}

interface GroupHeadingProps {
  readonly group: Extract<ToolItem, { readonly kind: 'group' }>;
  readonly isCollapsed: boolean;
  readonly onToggle: () => void;
}

function GroupHeading({ group: { label, count }, isCollapsed, onToggle }: GroupHeadingProps): ReactNode {
  const Chevron = isCollapsed ? ChevronRight : ChevronDown;
  return (
    <button type="button" className="group" aria-expanded={!isCollapsed} onClick={onToggle}>
      <Chevron size={14} aria-hidden />
      <HostileText text={label} />
      <span className="count">{count.toLocaleString('en')}</span>
    </button>
  );
}

/** Returns the same object at each render; it calls the latest actions. */
function useActions(now: RowActions): RowActions {
  const latest = useRef(now);
  useEffect(() => {
    latest.current = now;
  });
  return useMemo(
    () => ({
      onOpen: (id) => latest.current.onOpen(id),
      onSwitch: (id, enabled) => latest.current.onSwitch(id, enabled),
      onBadge: (row, badge) => latest.current.onBadge(row, badge),
    }),
    [],
  );
}

interface Switched {
  readonly id: string;
  readonly enabled: boolean;
}

/** Shows the new state at once. If it is refused, restores the old one and shows the reason. */
function useSwitch() {
  const client = useQueryClient();
  const show = ({ id, enabled }: Switched): void =>
    void client.setQueryData(toolsQuery.queryKey, (rows) =>
      rows?.map((row) => (row.id === id ? { ...row, state: enabled ? 'enabled' : 'disabled' } : row)),
    );
  return useMutation({
    mutationFn: ({ id, enabled }: Switched) => setEnabled(id, enabled),
    onMutate: async (switched) => {
      // A response to an earlier request would show the old state again.
      await client.cancelQueries({ queryKey: toolsQuery.queryKey });
      show(switched);
    },
    onError: (_error, { id, enabled }) => show({ id, enabled: !enabled }),
    onSettled: () => client.invalidateQueries({ queryKey: ['tools'] }),
  });
}
