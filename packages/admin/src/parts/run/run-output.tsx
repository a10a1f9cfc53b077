import { CircleAlert, CircleCheckBig, CircleX } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { Run, RunOutcome } from '../../state/runs.ts';
import { HostileText } from '../hostile-text.tsx';
import { useNow } from '../when.tsx';
import { ContentBlock, JsonText } from './content-block.tsx';

/** Progress and messages while a call runs, and how it ended. */
export function RunOutput({ run }: { readonly run: Run }): ReactNode {
  const { state, outcome } = run;
  return (
    <section aria-labelledby="output-title" aria-live="polite" aria-busy={state === 'running'}>
      <div className="section-head">
        <h2 id="output-title">{headingOf(run)}</h2>
        <Duration run={run} />
      </div>
      {state === 'running' && run.question === undefined && <Progress run={run} />}
      {outcome !== undefined && <Outcome outcome={outcome} />}
      <Log run={run} />
    </section>
  );
}

function headingOf({ state, question }: Run): string {
  if (state === 'ended') return 'Result';
  return question === undefined ? 'Running' : 'Waiting for your answer';
}

function Duration({ run }: { readonly run: Run }): ReactNode {
  const now = useNow(run.state === 'running' ? 500 : 60_000);
  const ms = Math.max(0, (run.state === 'running' ? now : run.endedMs) - run.startedMs);
  return (
    <span className="quiet small">
      {ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`}
    </span>
  );
}

function Progress({ run: { progress } }: { readonly run: Run }): ReactNode {
  const done = Number(progress?.progress);
  const total = Number(progress?.total);
  const isKnown = Number.isFinite(done) && total > 0;
  const message = typeof progress?.message === 'string' ? progress.message : undefined;
  return (
    <div className="progress">
      {isKnown ? (
        <progress aria-label="Progress of the call" value={Math.min(done, total)} max={total} />
      ) : (
        <progress aria-label="Progress of the call" />
      )}
      <span className="small">
        {isKnown ? `${done} of ${total}` : Number.isFinite(done) ? `Step ${done}` : 'Waiting for the server'}
        {message !== undefined && (
          <>
            {' · '}
            <HostileText text={message} />
          </>
        )}
      </span>
    </div>
  );
}

function Outcome({ outcome }: { readonly outcome: RunOutcome }): ReactNode {
  switch (outcome.kind) {
    case 'result':
      return <Result result={outcome.result} />;
    case 'error':
      return (
        <>
          <Banner
            kind="bad"
            text={`The server answered with an error: ${String(outcome.error['message'])}`}
          />
          <JsonText value={outcome.error} label="Error" />
        </>
      );
    case 'refused':
      return <Banner kind="bad" text={`${outcome.title}: ${outcome.detail}`} />;
    case 'cancelled':
      return <Banner kind="quiet" text="Cancelled. The server was notified." />;
  }
}

function Result({ result }: { readonly result: Readonly<Record<string, unknown>> }): ReactNode {
  const [isRaw, setRaw] = useState(false);
  const { content, structuredContent, isError } = result;
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return (
    <>
      {isError === true ? (
        <Banner kind="bad" text="The tool reported an error" />
      ) : (
        <Banner kind="good" text="Done" />
      )}
      {isRaw ? (
        <JsonText value={result} label="Result as JSON" />
      ) : (
        <>
          {blocks.map((block, at) => (
            <ContentBlock key={at} block={block} />
          ))}
          {blocks.length === 0 && structuredContent === undefined && (
            <p className="quiet">The result is empty.</p>
          )}
          {structuredContent !== undefined && (
            <>
              <h3>Structured content</h3>
              <JsonText value={structuredContent} label="Structured content" />
            </>
          )}
        </>
      )}
      <button type="button" className="link small" onClick={() => setRaw(!isRaw)}>
        {isRaw ? 'Show by type' : 'Show the whole result as JSON'}
      </button>
    </>
  );
}

const ICONS = { good: CircleCheckBig, bad: CircleAlert, quiet: CircleX } as const;

function Banner({ kind, text }: { readonly kind: keyof typeof ICONS; readonly text: string }): ReactNode {
  const Icon = ICONS[kind];
  return (
    <p className={`banner banner-${kind}`}>
      <Icon size={16} aria-hidden /> <HostileText text={text} />
    </p>
  );
}

function Log({ run: { log, dropped } }: { readonly run: Run }): ReactNode {
  if (log.length === 0 && dropped === 0) return null;
  return (
    <>
      <h3>Messages of the server</h3>
      <ol className="log" tabIndex={0} aria-label="Messages of the server">
        {log.map(({ level, logger, data }, at) => (
          <li key={at}>
            <span className="quiet">
              <HostileText text={[level, logger].filter((one) => typeof one === 'string').join(' ')} />
            </span>{' '}
            <HostileText text={typeof data === 'string' ? data : JSON.stringify(data)} />
          </li>
        ))}
      </ol>
      {dropped > 0 && <p className="quiet small">{dropped} more arrived too fast to be shown.</p>}
    </>
  );
}
