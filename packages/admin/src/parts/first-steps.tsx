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
        No servers yet. Import yours or add one, then connect a client. This page updates automatically.
      </p>
      <ol>
        <li>
          <h2>Import the servers of your MCP clients</h2>
          <p>
            Run this in a terminal on the machine that runs Assay. It finds the MCP clients there and asks
            before changing anything.
          </p>
          <CopyText text="assay setup" label="Command to import servers" />
          <p className="quiet small">
            For a single client: <code>assay import claude-code</code>, or the name of another client.
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
            <p>Ask someone whose token has the scope admin to add one.</p>
          )}
        </li>
        <li>
          <h2>Connect a client</h2>
          <p>
            The client gets the tools of all servers, including ones added later, or those of the equipped
            toolset.
          </p>
          <ToolsetClients />
        </li>
      </ol>
    </section>
  );
}
