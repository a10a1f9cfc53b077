import { capitalize } from '@assay-mcp/kit/capitalize';
import { useState, type ReactNode } from 'react';
import type { Call, RecordedCall } from '../../../gateway/src/api/call.ts';
import { HostileText } from './hostile-text.tsx';
import { When } from './when.tsx';

const DECISIONS = { allow: 'Allowed', ask: 'Asked', refuse: 'Refused' } as const;
/** What a person calls an outcome; of others, the words of the code. */
const OUTCOMES: Readonly<Record<string, string>> = {
  APPROVAL_DENIED: 'Denied',
  APPROVAL_REQUIRED: 'Not approved',
  CALL_REFUSED: 'Refused',
  SERVER_TIMEOUT: 'Timed out',
  SERVER_UNAVAILABLE: 'Server not available',
  ok: 'OK',
  tool_error: 'Tool error',
  error: 'Error',
  input_required: 'Needs input',
};

/** A call on one line; details (caller, reasons, arguments) on demand. */
export function CallRow({ call }: { readonly call: Call }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (call.kind === 'dropped')
    return (
      <div className="row">
        <span className="badge risk-write">Gap</span>
        <span className="grow">
          {call.count} calls could not be recorded since <When at={call.since} />
        </span>
      </div>
    );
  if (call.kind === 'unreadable')
    return (
      <div className="row">
        <span className="badge risk-write">Changed</span>
        <span className="grow">
          Entry {call.id} was changed and cannot be read. Run `assay activity verify`.
        </span>
      </div>
    );
  const { tool, subject, client, decision, outcome, durationMs } = call;
  const asked = describeAsked(call);
  const who = client?.name === undefined ? subject : `${subject} · ${client.name}`;
  return (
    <div>
      <div className="row">
        {decision !== undefined && (
          <span className={`badge decision-${decision.kind === 'ask' ? asked.level : decision.kind}`}>
            {decision.kind === 'ask' ? asked.label : DECISIONS[decision.kind]}
          </span>
        )}
        <span className="grow">
          <code>
            <HostileText text={tool.namespacedName ?? tool.publicName} />
          </code>
        </span>
        <span className="quiet wide">
          <HostileText text={who} />
        </span>
        <span className={outcome === 'ok' ? 'quiet' : 'bad'}>{OUTCOMES[outcome] ?? formatCode(outcome)}</span>
        <span className="quiet number wide">{duration(durationMs)}</span>
        <span className="quiet wide">
          <When at={call.at} />
        </span>
        <button
          type="button"
          className="link"
          data-row
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Details
        </button>
      </div>
      {isOpen && <Details call={call} />}
    </div>
  );
}

/** What came of a call that the policy asks for. */
function describeAsked({ isAsked, approval }: Pick<RecordedCall, 'isAsked' | 'approval'>): {
  readonly level: 'allow' | 'ask';
  readonly label: string;
} {
  if (isAsked === false) return { level: 'allow', label: 'Not asked' };
  return approval === undefined
    ? { level: 'ask', label: DECISIONS.ask }
    : { level: 'allow', label: 'Approved' };
}

/** `NAME_OF_CODE` in words. */
function formatCode(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return capitalize(words);
}

/** What the value of a hint was based on. */
const REASONS: Readonly<Record<string, string>> = { default: 'assumed', override: 'set by an operator' };

function Details({ call }: { readonly call: RecordedCall }): ReactNode {
  const { decision, isAsked, hints, approval, denial, labels, arguments: given, endpoint } = call;
  return (
    <dl className="facts">
      <dt>Decision</dt>
      <dd>
        {isAsked === false && decision !== undefined && <div>{NOT_ASKED[decision.per ?? 'call']}</div>}
        {decision?.reasons.map(({ text }, at) => (
          <div key={at}>
            <HostileText text={text} />
          </div>
        )) ?? '–'}
      </dd>
      {approval !== undefined && (
        <>
          <dt>Approved</dt>
          <dd>
            by <HostileText text={approval.by} /> ({approval.scope})
          </dd>
        </>
      )}
      {denial !== undefined && (
        <>
          <dt>Denied</dt>
          <dd>
            by <HostileText text={denial.by} />{' '}
            {denial.id === undefined ? 'when its client asked' : 'in the inbox'}
            {denial.reason !== undefined && (
              <>
                : “<HostileText text={denial.reason} />”
              </>
            )}
          </dd>
        </>
      )}
      <dt>Hints</dt>
      <dd>
        {Object.entries(hints ?? {}).map(([name, { value, reason }]) => (
          <div key={name}>
            <code>{name}</code> {String(value)}{' '}
            <span className="quiet">({REASONS[reason] ?? formatCode(reason).toLowerCase()})</span>
          </div>
        ))}
      </dd>
      <dt>Endpoint</dt>
      <dd>
        <HostileText text={endpoint} />
      </dd>
      {labels !== undefined && labels.length > 0 && (
        <>
          <dt>Labels</dt>
          <dd>{labels.join(', ')}</dd>
        </>
      )}
      <dt>Arguments</dt>
      <dd>
        {given === undefined ? (
          <span className="quiet">
            Not recorded; the setting <code>activity.arguments</code> decides.
          </span>
        ) : (
          <pre className="arguments" tabIndex={0} aria-label="Arguments">
            <HostileText text={given.text} />
            {given.isShortened && '\n… shortened'}
          </pre>
        )}
      </dd>
    </dl>
  );
}

/** By what would have been asked. */
const NOT_ASKED = {
  call: 'Not asked. Assay would have asked about this call.',
  session: 'Not asked. Assay would have asked once for this session and tool.',
  server: 'Not asked. Assay would have asked once for this session and destination server.',
} as const;

function duration(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(0)} s`;
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}
