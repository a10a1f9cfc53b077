import { Button, Checkbox, Progress } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import type { VerificationResult } from '../../../gateway/src/api/verification.ts';
import { useMayExecute } from '../state/session.ts';
import { HINT_LABELS } from '../state/tools.ts';
import {
  cancelVerification,
  startVerification,
  useVerification,
  type Verification,
} from '../state/verification.ts';
import { HostileText } from './hostile-text.tsx';
import { NeedsExecute } from './needs-execute.tsx';

/**
 * Calls the tools of a server in a sandbox, and shows what they did. Only for servers that are started by a command.
 */
export function ServerVerify({ gateway }: { readonly gateway: Gateway }): ReactNode {
  const mayExecute = useMayExecute();
  const verification = useVerification();
  const [isRecorded, setIsRecorded] = useState(false);
  if (gateway.command === undefined) return null;
  const isRunning = verification?.state === 'running';
  return (
    <section aria-labelledby="verify-title">
      <h2 id="verify-title">Verification</h2>
      <p className="quiet small">
        Calls its tools in a sandbox without a network, and compares their effects with their hints. The
        running server and your files are not touched.
      </p>
      <Checkbox
        label="Also use the arguments of recorded calls, with secrets masked"
        checked={isRecorded}
        disabled={isRunning || !mayExecute}
        onChange={(event) => setIsRecorded(event.currentTarget.checked)}
      />
      <div className="actions-line">
        <Button
          variant="default"
          leftSection={<FlaskConical size={14} aria-hidden />}
          disabled={isRunning || !mayExecute}
          onClick={() => void startVerification(gateway, { isRecorded })}
        >
          Verify
        </Button>
        {isRunning && verification.server === gateway.name && (
          <Button variant="default" onClick={cancelVerification}>
            Cancel
          </Button>
        )}
      </div>
      {!mayExecute && <NeedsExecute>It starts the command of the server.</NeedsExecute>}
      <div role="status">
        {verification?.server === gateway.name && <Outcome verification={verification} />}
        {isRunning && verification.server !== gateway.name && (
          <p className="quiet small">
            <HostileText text={verification.server} /> is being verified.
          </p>
        )}
      </div>
    </section>
  );
}

function Outcome({ verification }: { readonly verification: Verification }): ReactNode {
  if (verification.state === 'failed')
    return (
      <p className="failed">
        <HostileText text={verification.why} />
      </p>
    );
  if (verification.state === 'done') return <Findings result={verification.result} />;
  const { done, total, tool } = verification.progress ?? { done: 0, total: 0, tool: undefined };
  return (
    <>
      <Progress
        value={total === 0 ? 100 : (done / total) * 100}
        animated={total === 0}
        striped={total === 0}
        aria-label="Progress of the verification"
      />
      <p className="quiet small">
        {tool === undefined ? (
          'Starting the server…'
        ) : (
          <>
            {done} of {total} tools: <HostileText text={tool} />
          </>
        )}
      </p>
    </>
  );
}

function Findings({ result }: { readonly result: VerificationResult }): ReactNode {
  const { contradictions, tools, toolsWithSuccess, calls, server } = result;
  return (
    <>
      <p>
        {contradictions.length === 0
          ? 'No hint was contradicted. That does not prove that the tools are safe.'
          : `${contradictions.length} ${contradictions.length === 1 ? 'hint was' : 'hints were'} contradicted:`}
      </p>
      <ul className="claims">
        {contradictions.map(({ tool, hint, message }) => (
          <li key={`${tool} ${hint}`} className="contradicted">
            <HostileText text={`${tool}: ${HINT_LABELS[hint]}: ${message}`} />
          </li>
        ))}
      </ul>
      <p className="quiet small">
        {toolsWithSuccess} of {tools} tools made a successful call, {calls} calls.{' '}
        <Link to="/tools" search={{ server }}>
          Show its tools
        </Link>
      </p>
    </>
  );
}
