import type { McpServer, RegisteredPrompt, RegisteredTool } from '@modelcontextprotocol/server';
import type { SharedLists } from './shared-lists.ts';

export interface Extras {
  readonly tool: RegisteredTool;
  readonly prompt: RegisteredPrompt;
}

/** Two tools that change the lists, and the content of the lists after every second change. */
export function offerListChanges(server: McpServer, lists: SharedLists): Extras {
  server.registerTool('test_trigger_tool_change', { description: 'Changes the list of tools.' }, () => {
    lists.change('tool');
    return { content: [{ type: 'text', text: 'The list of tools has changed.' }] };
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Changes the list of prompts.' }, () => {
    lists.change('prompt');
    return { content: [{ type: 'text', text: 'The list of prompts has changed.' }] };
  });
  const tool = server.registerTool('test_extra_tool', { description: 'Comes and goes.' }, () => ({
    content: [{ type: 'text', text: 'I am here.' }],
  }));
  const prompt = server.registerPrompt('test_extra_prompt', { description: 'Comes and goes.' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'I am here.' } }],
  }));
  tool.update({ enabled: lists.has('tool') });
  prompt.update({ enabled: lists.has('prompt') });
  return { tool, prompt };
}
