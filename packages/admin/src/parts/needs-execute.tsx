import type { ReactNode } from 'react';
import { CopyText } from './copy-text.tsx';

interface NeedsExecuteProps {
  /** Why the scope is needed, as a sentence. */
  readonly children: ReactNode;
}

/** Says how a session without the scope `execute` gets it. */
export function NeedsExecute({ children }: NeedsExecuteProps): ReactNode {
  const isHere = LOOPBACK.test(window.location.hostname);
  return (
    <div className="needs">
      <p>
        {children} This needs the scope <code>execute</code>, which your session does not have.{' '}
        {isHere
          ? 'Run this at a terminal, and open the link that it prints in this browser. Its session ends after an hour:'
          : 'Create a token at a terminal, sign out here, and sign in with it:'}
      </p>
      <CopyText
        label="Command"
        text={isHere ? 'assay token link --scopes execute' : 'assay token create me --scopes admin,execute'}
      />
    </div>
  );
}

/** Links with `execute` are for gateways that only this machine reaches. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
