import { fromJsonSchema, type CallToolResult, type McpServer } from '@modelcontextprotocol/server';
import { RED_PIXEL_PNG, SILENCE_WAV } from './media.ts';

/** Tools that answer at once. The first one takes no arguments, as some scenarios call whichever comes first. */
export function offerContentTools(server: McpServer): void {
  for (const [name, { description, result }] of Object.entries(ANSWERS))
    server.registerTool(name, { description }, () => result);
  server.registerTool('test_error_handling', { description: 'Fails always.' }, () => {
    throw new Error('This tool fails on purpose.');
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Has a schema with much of the vocabulary of JSON Schema 2020-12.',
      inputSchema: fromJsonSchema<Readonly<Record<string, unknown>>>(RICH_SCHEMA),
    },
    (given) => ({ content: [{ type: 'text', text: `Given: ${JSON.stringify(given)}` }] }),
  );
  server.registerTool(
    'test_mirrored_parameters',
    {
      description: 'Wants some of its parameters in headers, too.',
      inputSchema: fromJsonSchema<Readonly<Record<string, unknown>>>(MIRRORED_SCHEMA),
    },
    (given) => ({ content: [{ type: 'text', text: `Given: ${JSON.stringify(given)}` }] }),
  );
}

interface Answer {
  readonly description: string;
  readonly result: CallToolResult;
}

const IMAGE = { type: 'image' as const, data: RED_PIXEL_PNG, mimeType: 'image/png' };

const ANSWERS: Readonly<Record<string, Answer>> = {
  test_simple_text: {
    description: 'Answers with a text.',
    result: { content: [{ type: 'text', text: 'This is a simple text response for testing.' }] },
  },
  test_image_content: {
    description: 'Answers with an image.',
    result: { content: [IMAGE] },
  },
  test_audio_content: {
    description: 'Answers with a sound.',
    result: { content: [{ type: 'audio', data: SILENCE_WAV, mimeType: 'audio/wav' }] },
  },
  test_embedded_resource: {
    description: 'Answers with a resource.',
    result: {
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    },
  },
  test_multiple_content_types: {
    description: 'Answers with a text, an image and a resource.',
    result: {
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        IMAGE,
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"test":"data","value":123}',
          },
        },
      ],
    },
  },
};

const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const MIRRORED_SCHEMA = {
  type: 'object' as const,
  properties: {
    region: { type: 'string', description: 'Where.', 'x-mcp-header': 'Region' },
    priority: { type: 'integer', description: 'How soon.', 'x-mcp-header': 'Priority' },
    query: { type: 'string', description: 'What, in the body alone.' },
  },
  required: ['region'],
};
