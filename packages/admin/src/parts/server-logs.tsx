import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import type { GatewayLogLine } from '../../../gateway/src/api/server.ts';
import { logsQuery } from '../state/servers.ts';
import { HostileText } from './hostile-text.tsx';
import { Failed, LoadingRows } from './states.tsx';

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
/** Within this many pixels of the end, the user counts as reading the last line. */
const NEAR_END = 24;

interface ServerLogsProps {
  readonly id: string;
  readonly transport: string | undefined;
}

/** The last log lines. New ones scroll into view while the end is visible. */
export function ServerLogs({ id, transport }: ServerLogsProps): ReactNode {
  const logs = useQuery(logsQuery(id));
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const last = logs.data?.at(-1)?.id;
  useEffect(() => {
    const { current } = box;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [last]);
  if (logs.isPending) return <LoadingRows />;
  if (logs.isError && logs.data === undefined)
    return <Failed error={logs.error} onRetry={() => void logs.refetch()} />;
  return (
    <>
      <p className="quiet small">
        {transport === 'stdio'
          ? 'The server’s stderr, and what Assay logged about it, since Assay started.'
          : 'What Assay logged about it since Assay started. Only servers that Assay starts have a stderr.'}
      </p>
      {logs.isError && <Failed error={logs.error} />}
      <div
        className="log"
        ref={box}
        role="log"
        aria-label="Log"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
        }}
      >
        {logs.data.length === 0 && <p className="quiet">Nothing yet.</p>}
        {logs.data.map((line) => (
          <Line key={line.id} line={line} />
        ))}
      </div>
    </>
  );
}

function Line({ line: { at, level, from, text } }: { readonly line: GatewayLogLine }): ReactNode {
  return (
    <div className="log-line" data-level={level}>
      <time dateTime={at} title={at}>
        {CLOCK.format(Date.parse(at))}
      </time>
      <span className="from">
        {from === 'stderr' ? 'stderr' : level === 'info' ? 'Assay' : `Assay ${level}`}
      </span>
      <span>
        <HostileText text={text} />
      </span>
    </div>
  );
}
