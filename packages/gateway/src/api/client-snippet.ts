import * as z from 'zod';
import type { Data } from './data.ts';

/** The entry for the config file of an MCP client. */
const CLIENT_SNIPPET = z.object({
  id: z.string(),
  label: z.string(),
  path: z.string().meta({ description: 'The client’s config file, for the user who runs Assay.' }),
  format: z.enum(['json', 'toml']),
  stdio: z.string().meta({ description: 'For clients that start Assay themselves; needs no token.' }),
  http: z.string().exactOptional().meta({ description: 'Absent if the client supports commands only.' }),
  next: z.string(),
});

export type ClientSnippet = Data<typeof CLIENT_SNIPPET>;

export const CLIENT_SNIPPET_LIST = z.object({
  url: z.string().meta({ description: 'The endpoint.' }),
  needsToken: z.boolean().meta({ description: 'Whether clients must send a token.' }),
  clients: z.array(CLIENT_SNIPPET),
});

export type ClientSnippetList = Data<typeof CLIENT_SNIPPET_LIST>;
