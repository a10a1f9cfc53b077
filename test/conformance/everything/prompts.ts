import { completable, inputRequired, inputResponse, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { formOf } from './asking-tools.ts';
import { fieldForm } from './forms.ts';
import { RED_PIXEL_PNG } from './media.ts';

export function offerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'Has no arguments.' }, () => ({
    messages: [userText('This is a simple prompt for testing.')],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'Has two arguments.',
      argsSchema: z.object({
        arg1: completable(z.string(), (value) =>
          ['paris', 'park', 'party', 'test'].filter((known) => known.startsWith(value)),
        ),
        arg2: z.string(),
      }),
    },
    ({ arg1, arg2 }) => ({
      messages: [userText(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Holds a resource.', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        userText('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'Holds an image.' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: RED_PIXEL_PNG, mimeType: 'image/png' } },
      userText('Please analyze the image above.'),
    ],
  }));
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Needs an answer of its client first.' },
    ({ mcpReq }) => {
      const view = inputResponse(mcpReq.inputResponses, 'user_context');
      if (view.kind === 'missing')
        return inputRequired({
          inputRequests: {
            user_context: formOf('What context should the prompt use?', fieldForm('context')),
          },
        });
      return { messages: [userText(`The context: ${JSON.stringify(view)}`)] };
    },
  );
}

function userText(text: string): {
  role: 'user';
  content: { type: 'text'; text: string };
} {
  return { role: 'user', content: { type: 'text', text } };
}
