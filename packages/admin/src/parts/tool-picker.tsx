import { Button, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState, type ReactNode } from 'react';
import type { ToolsetMember } from '../../../gateway/src/api/toolset.ts';
import {
  createMembershipCheck,
  findWholeServer,
  toggleServerMembership,
  setToolMembership,
} from '../state/members.ts';
import type { Risk, ToolRow } from '../state/tools.ts';
import { costsQuery, foundQuery } from '../state/toolsets.ts';
import { HostileText } from './hostile-text.tsx';
import { RISK_LABELS, RiskBadge } from './risk-badge.tsx';
import { useRowWindow } from './row-window.ts';
import { SearchBox } from './search-box.tsx';
import { Failed } from './states.tsx';

interface ToolPickerProps {
  readonly rows: readonly ToolRow[];
  readonly members: readonly ToolsetMember[];
  /** Whether it is read-only. */
  readonly isFixed: boolean;
  readonly onChange: (members: readonly ToolsetMember[]) => void;
}

const CHOSEN = 'chosen';

export function ToolPicker({ rows, members, isFixed, onChange }: ToolPickerProps): ReactNode {
  const [text, setText] = useState('');
  const [risk, setRisk] = useState('');
  const [server, setServer] = useState('');
  const query = useDeferredValue(text.trim());
  const found = useQuery(foundQuery(query));
  const servers = useMemo(() => [...new Set(rows.map((row) => row.server))], [rows]);
  const isMember = useMemo(() => createMembershipCheck(members), [members]);
  const shown = useMemo(() => {
    const names = new Map(rows.map((row) => [row.namespacedName, row]));
    const ranked = query === '' ? rows : (found.data ?? []).flatMap((name) => names.get(name) ?? []);
    return ranked.filter(
      (row) =>
        (server === '' || row.server === server) &&
        (risk === '' || (risk === CHOSEN ? isMember(row) : row.risk === risk)),
    );
  }, [rows, query, found.data, server, risk, isMember]);
  const missing = shown.filter((row) => !isMember(row));
  return (
    <>
      <div className="picker-tools">
        <SearchBox label="Search tools by task" value={text} onChange={setText} />
        <NativeSelect
          aria-label="Risk"
          value={risk}
          onChange={(event) => setRisk(event.currentTarget.value)}
          data={[
            { value: '', label: 'All risks' },
            { value: CHOSEN, label: 'In this toolset' },
            ...(Object.keys(RISK_LABELS) as Risk[]).map((value) => ({ value, label: RISK_LABELS[value] })),
          ]}
        />
        <NativeSelect
          aria-label="Server"
          value={server}
          onChange={(event) => setServer(event.currentTarget.value)}
          data={[{ value: '', label: 'All servers' }, ...servers]}
        />
        {!isFixed && (
          <Button
            variant="default"
            disabled={missing.length === 0}
            onClick={() => onChange(missing.reduce((now, row) => setToolMembership(now, row, true), members))}
          >
            Add {missing.length.toLocaleString('en')} shown
          </Button>
        )}
      </div>
      {server !== '' && (
        <label className="check whole">
          <input
            type="checkbox"
            disabled={isFixed}
            checked={findWholeServer(members, server) !== undefined}
            onChange={() =>
              onChange(
                toggleServerMembership(
                  members,
                  server,
                  rows.filter((row) => row.server === server),
                ),
              )
            }
          />
          <span>
            All tools of <HostileText text={server} />, including ones added later
          </span>
        </label>
      )}
      {found.isError && <Failed error={found.error} />}
      <Rows rows={shown} members={members} isFixed={isFixed} onChange={onChange} />
    </>
  );
}

const ROW_HEIGHT_PX = 36;

/** Renders only the visible rows. */
function Rows({ rows, members, isFixed, onChange }: ToolPickerProps): ReactNode {
  const costs = useQuery(costsQuery);
  const isMember = useMemo(() => createMembershipCheck(members), [members]);
  const { box, shown } = useRowWindow(rows.length, ROW_HEIGHT_PX);
  return (
    <div className="picker-list" ref={box} role="group" aria-label="Tools" tabIndex={0}>
      {rows.length === 0 && <p className="quiet">No tools match.</p>}
      <div className="inner" style={{ height: rows.length * ROW_HEIGHT_PX }}>
        {shown.map((index) => {
          const row = rows[index];
          if (row === undefined) return null;
          const cost = costs.data?.[row.namespacedName];
          return (
            <label
              key={row.id}
              className="pick"
              style={{ transform: `translateY(${index * ROW_HEIGHT_PX}px)` }}
            >
              <input
                type="checkbox"
                disabled={isFixed}
                checked={isMember(row)}
                onChange={(event) => onChange(setToolMembership(members, row, event.currentTarget.checked))}
              />
              <span className="grow">
                <span>
                  <HostileText text={row.title} />
                </span>{' '}
                <span className="quiet small">
                  <HostileText text={row.namespacedName} />
                </span>
              </span>
              <RiskBadge risk={row.risk} />
              <span className="quiet small tokens">
                {cost === undefined ? '' : cost.toLocaleString('en')}
              </span>
            </label>
          );
        })}
      </div>
    </div>
  );
}
