import { McpServer } from '@modelcontextprotocol/server';
import { offerAskingTools } from './asking-tools.ts';
import { offerContentTools } from './content-tools.ts';
import { offerInputTools } from './input-tools.ts';
import { offerListChanges } from './list-changes.ts';
import { offerPrompts } from './prompts.ts';
import { offerResources } from './resources.ts';
import { verifyState } from './sealed-state.ts';
import type { SharedLists } from './shared-lists.ts';
import { offerSpeakingTools } from './speaking-tools.ts';

export interface Everything {
  readonly server: McpServer;
  /** Notifies the client of this one server when the shared lists change; returns a function that stops it. */
  readonly followLists: () => () => void;
}

/** One server with all that the scenarios of the conformance suite ask for, the same in both eras. */
export function everything(lists: SharedLists): Everything {
  const server = new McpServer(
    { name: 'everything', version: '1.0.0' },
    {
      capabilities: { logging: {}, resources: { subscribe: true } },
      requestState: { verify: verifyState },
    },
  );
  offerContentTools(server);
  offerSpeakingTools(server);
  offerAskingTools(server);
  offerInputTools(server);
  offerPrompts(server);
  offerResources(server);
  const extras = offerListChanges(server, lists);
  return {
    server,
    followLists: () => lists.listen((kind) => extras[kind].update({ enabled: lists.has(kind) })),
  };
}
