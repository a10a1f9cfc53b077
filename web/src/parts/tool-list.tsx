import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { useIsAdmin } from '../state/session.ts';
import { setEnabled, toolsQuery, type ToolRow } from '../state/tools.ts';
import { HostileText } from './hostile-text.tsx';
import { useKeys } from './keys.ts';
import { Marks, RiskBadge } from './risk-badge.tsx';
import { useRowWindow } from './row-window.ts';
import { Failed } from './states.tsx';

type Item =
  | { readonly kind: 'group'; readonly server: string; readonly count: number }
  | { readonly kind: 'tool'; readonly row: ToolRow };

const ROW_HEIGHT_PX = 40;

interface ToolListProps {
  readonly rows: readonly ToolRow[];
  readonly onOpen: (id: string) => void;
}

/** Grouped by server. Only the rows that are seen are in the page, whatever their number. */
export function ToolList({ rows, onOpen }: ToolListProps): ReactNode {
  const items = useMemo(() => grouped(rows), [rows]);
  const [current, setCurrent] = useState(-1);
  const isAdmin = useIsAdmin();
  const switching = useSwitch();
  const { box, shown, reveal } = useRowWindow(items.length, ROW_HEIGHT_PX);
  const move = (step: 1 | -1): void => {
    let next = current + step;
    while (items[next]?.kind === 'group') next += step;
    if (items[next] === undefined) return;
    setCurrent(next);
    reveal(next);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-at="${next}"] a`)?.focus());
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
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
                  <div className="group">
                    <HostileText text={item.server} />
                    <span className="count">{item.count.toLocaleString('en')}</span>
                  </div>
                ) : (
                  <Row
                    row={item.row}
                    mayChange={isAdmin}
                    onOpen={() => onOpen(item.row.id)}
                    onSwitch={(enabled) => switching.mutate({ id: item.row.id, enabled })}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

interface RowProps {
  readonly row: ToolRow;
  readonly mayChange: boolean;
  readonly onOpen: () => void;
  readonly onSwitch: (enabled: boolean) => void;
}

function Row({ row, mayChange, onOpen, onSwitch }: RowProps): ReactNode {
  return (
    <div className="row" data-off={row.state !== 'enabled'}>
      <span className="grow name">
        <a
          href={`?tool=${encodeURIComponent(row.id)}`}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            onOpen();
          }}
        >
          <HostileText text={row.title} />
        </a>{' '}
        <code className="quiet wide">
          <HostileText text={row.name} />
        </code>
      </span>
      {row.drift !== 'none' && (
        <span className={row.drift === 'dangerous' ? 'badge risk-destructive' : 'badge risk-write'}>
          Changed
        </span>
      )}
      <Marks row={row} />
      <RiskBadge risk={row.risk} />
      {row.state === 'withheld' ? (
        <span className="badge">Withheld</span>
      ) : (
        // One element each: rows are made anew while a person scrolls.
        <input
          type="checkbox"
          role="switch"
          className="switch"
          aria-label={`${row.name} is on`}
          checked={row.state === 'enabled'}
          disabled={!mayChange}
          onChange={(event) => onSwitch(event.currentTarget.checked)}
        />
      )}
    </div>
  );
}

interface Switched {
  readonly id: string;
  readonly enabled: boolean;
}

/** Shows the new state at once; where it is refused, the old one with the reason. */
function useSwitch() {
  const client = useQueryClient();
  const show = ({ id, enabled }: Switched): void =>
    void client.setQueryData(toolsQuery.queryKey, (rows) =>
      rows?.map((row) => (row.id === id ? { ...row, state: enabled ? 'enabled' : 'disabled' } : row)),
    );
  return useMutation({
    mutationFn: ({ id, enabled }: Switched) => setEnabled(id, enabled),
    onMutate: show,
    onError: (_error, { id, enabled }) => show({ id, enabled: !enabled }),
    onSettled: () => client.invalidateQueries({ queryKey: ['tools'] }),
  });
}

function grouped(rows: readonly ToolRow[]): readonly Item[] {
  const groups = Map.groupBy(rows, ({ server }) => server);
  return [...groups].flatMap(([server, tools]): readonly Item[] => [
    { kind: 'group', server, count: tools.length },
    ...tools.map((row) => ({ kind: 'tool', row }) as const),
  ]);
}
