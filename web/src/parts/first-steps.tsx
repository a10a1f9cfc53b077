import '../servers.css';
import '../settings.css';
import '../toolsets.css';
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsAdmin } from '../state/session.ts';
import { CopyText } from './copy-text.tsx';
import { ToolsetClients } from './toolset-clients.tsx';

/** Shown instead of a list if there are no servers. */
export function FirstSteps(): ReactNode {
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  return (
    <section className="first-steps" aria-label="First steps">
      <p className="quiet">
        No servers yet. Import yours or add one, then connect a client. The page updates by itself.
      </p>
      <ol>
        <li>
          <h2>Import the servers of your MCP clients</h2>
          <p>
            Run this in a terminal on the machine of Assay. It finds the clients there, and asks before it
            changes anything.
          </p>
          <CopyText text="assay setup" label="Command to import servers" />
          <p className="quiet small">
            For one client alone: <code>assay import claude-code</code>, or the name of another client.
          </p>
        </li>
        <li>
          <h2>Add a server</h2>
          {isAdmin ? (
            <>
              <p>A command, a URL, a REST endpoint or an OpenAPI document.</p>
              <Button onClick={() => void navigate({ to: '/servers', search: { add: 'command' } })}>
                Add a server
              </Button>
            </>
          ) : (
            <p>Ask a person whose token has the scope admin to add one.</p>
          )}
        </li>
        <li>
          <h2>Connect a client</h2>
          <p>
            It gets the tools of all servers, or of the toolset that is equipped; also of servers that come
            later.
          </p>
          <ToolsetClients />
        </li>
      </ol>
    </section>
  );
}
