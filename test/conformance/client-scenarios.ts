import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Tool } from '@modelcontextprotocol/client';

export interface Driven {
  readonly client: Client;
  /** The suite's additional data for the scenario. */
  readonly context: unknown;
}

/** What one scenario requires of its client, after the handshake. */
export type Drive = (driven: Driven) => Promise<void>;

/** A scenario that is not in the table, as of signing in, is content with a list of the tools and a call of the first. */
export function driveOf(scenario: string): Drive {
  return DRIVES.get(scenario) ?? callFirst;
}

const DRIVES: ReadonlyMap<string, Drive> = new Map<string, Drive>([
  ['initialize', listOnce],
  ['request-metadata', listOnce],
  ['json-schema-ref-no-deref', listOnce],
  ['tools_call', calling('add_numbers', { a: 5, b: 3 })],
  ['elicitation-sep1034-client-defaults', calling('test_client_elicitation_defaults')],
  ['sse-retry', calling('test_reconnection')],
  ['sep-2322-client-request-state', callThroughRounds],
  ['http-standard-headers', useAllKinds],
  ['http-custom-headers', callAsTold],
  ['http-invalid-tool-headers', callAll],
  ['json-schema-2020-12-preservation', echoSchema],
]);

async function listOnce({ client }: Driven): Promise<void> {
  await client.listTools();
}

function calling(name: string, args: Readonly<Record<string, unknown>> = {}): Drive {
  return async ({ client }) => {
    await listTools(client);
    await client.callTool({ name, arguments: args });
  };
}

async function callFirst({ client }: Driven): Promise<void> {
  const [first] = (await client.listTools()).tools;
  if (first !== undefined) await client.callTool({ name: first.name, arguments: {} });
}

async function callThroughRounds({ client }: Driven): Promise<void> {
  await listTools(client);
  // The second is called while the first waits for its answer, as nothing of the one may get into the other.
  await Promise.all(
    ['test_mrtr_echo_state', 'test_mrtr_unrelated'].map((name) => client.callTool({ name, arguments: {} })),
  );
  await client.callTool({ name: 'test_mrtr_no_state', arguments: {} });
  await client.callTool({ name: 'test_mrtr_no_result_type', arguments: {} });
}

async function useAllKinds({ client }: Driven): Promise<void> {
  const tools = await listTools(client);
  const { resources } = await client.listResources();
  const { prompts } = await client.listPrompts();
  for (const { name } of tools) await client.callTool({ name, arguments: {} });
  for (const { uri } of resources) await client.readResource({ uri });
  for (const { name } of prompts) await client.getPrompt({ name });
}

interface ToldCalls {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

async function callAsTold({ client, context }: Driven): Promise<void> {
  await listTools(client);
  for (const call of (context as ToldCalls).toolCalls ?? []) await client.callTool(call);
}

/** Calls every listed tool; invalid ones must have been omitted from the list. */
async function callAll({ client }: Driven): Promise<void> {
  for (const { name } of await listTools(client))
    await client.callTool({ name, arguments: { region: 'us-east1', value: 'x', field1: 'x', field2: 'x' } });
}

async function echoSchema({ client }: Driven): Promise<void> {
  const tools = await listTools(client);
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
  await client.callTool({ name: 'json_schema_echo', arguments: { schema } });
}

/** A first list does not wait for ever for a server that starts; on a busy machine the tools come later. */
async function listTools(client: Client): Promise<readonly Tool[]> {
  for (let triesLeft = 100; triesLeft > 0; triesLeft--) {
    const { tools } = await client.listTools();
    if (tools.length > 0) return tools;
    await sleep(200);
  }
  throw new Error('Assay lists no tools.');
}
