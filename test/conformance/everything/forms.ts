import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';

export type Form = ElicitRequestFormParams['requestedSchema'];

export const PERSON: Form = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'Your name' },
    email: { type: 'string', description: 'Your email address' },
  },
  required: ['username', 'email'],
};

/** A default of each primitive type. */
export const DEFAULTS: Form = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  required: [],
};

/** Each way to write a choice. */
export const CHOICES: Form = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: [
        { const: 'value1', title: 'First Option' },
        { const: 'value2', title: 'Second Option' },
      ],
    },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: {
      type: 'array',
      items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    },
    titledMulti: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'value1', title: 'First Choice' },
          { const: 'value2', title: 'Second Choice' },
        ],
      },
    },
  },
  required: [],
};

/** A form with one field that must be filled. */
export function fieldForm(name: string, type: 'string' | 'boolean' = 'string'): Form {
  return {
    type: 'object',
    properties: { [name]: type === 'string' ? { type } : { type } },
    required: [name],
  };
}
