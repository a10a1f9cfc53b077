import { findCompileFault, type SchemaFault } from './compilable.ts';
import type { Era } from './eras.ts';
import { readHeaderParameters } from './header-parameters.ts';

/** What a list contains: `tools/list`, `prompts/list`, `resources/list`, `resources/templates/list`. */
export type ListedKind = 'tool' | 'prompt' | 'resource' | 'resourceTemplate';

/** What clients that validate a value require of it. */
export type Rule =
  | { readonly kind: 'value'; readonly message: string; readonly holds: (value: unknown) => boolean }
  | {
      readonly kind: 'object';
      readonly members: Readonly<Record<string, Member>>;
      /** What legacy clients check once the members are valid. */
      readonly legacyFault?: (value: Readonly<Record<string, unknown>>) => SchemaFault | undefined;
      /** What modern clients check whether or not the members are valid. */
      readonly modernFault?: (value: Readonly<Record<string, unknown>>) => SchemaFault | undefined;
    }
  | { readonly kind: 'record'; readonly each: Rule }
  | { readonly kind: 'array'; readonly each: Rule };

export interface Member {
  readonly rule: Rule;
  readonly required?: true;
  /** Set if clients of the other era ignore this member. */
  readonly only?: Era;
  /** Leaving out a part would change the meaning of the rest, so if a part is invalid, all of it is left out. */
  readonly indivisible?: true;
}

const STRING: Rule = {
  kind: 'value',
  message: 'is not a string',
  holds: (value) => typeof value === 'string',
};
const BOOLEAN: Rule = {
  kind: 'value',
  message: 'is not a boolean',
  holds: (value) => typeof value === 'boolean',
};
const NUMBER: Rule = {
  kind: 'value',
  message: 'is not a finite number',
  holds: (value) => Number.isFinite(value),
};
const PRIORITY: Rule = {
  kind: 'value',
  message: 'is not a number from 0 to 1',
  holds: (value) => typeof value === 'number' && value >= 0 && value <= 1,
};
const DATE_TIME: Rule = {
  kind: 'value',
  message: 'is not a date and time with an offset',
  holds: isDateTime,
};
const OBJECT: Rule = { kind: 'object', members: {} };
const STRINGS: Rule = { kind: 'array', each: STRING };
/** SDK 1.x accepts arrays here and rejects the schemas `true` and `false`; SDK 2.x rejects numbers such as 1e400. */
const PROPERTY: Rule = {
  kind: 'value',
  message: 'is not an object of finite JSON values',
  holds: (value) => typeof value === 'object' && value !== null && isFiniteJson(value),
};
const PROPERTIES: Rule = { kind: 'record', each: PROPERTY };

const ICON: Rule = {
  kind: 'object',
  members: {
    src: { rule: STRING, required: true },
    mimeType: { rule: STRING },
    sizes: { rule: STRINGS },
    theme: { rule: oneOf('light', 'dark') },
  },
};

const NAMED: Readonly<Record<string, Member>> = {
  name: { rule: STRING, required: true },
  title: { rule: STRING },
  description: { rule: STRING },
  icons: { rule: { kind: 'array', each: ICON } },
  _meta: { rule: OBJECT },
};

const ABOUT_RESOURCES: Readonly<Record<string, Member>> = {
  ...NAMED,
  mimeType: { rule: STRING },
  annotations: {
    rule: {
      kind: 'object',
      members: {
        audience: { rule: { kind: 'array', each: oneOf('user', 'assistant') } },
        priority: { rule: PRIORITY },
        lastModified: { rule: DATE_TIME },
      },
    },
  },
};

/** What SDK 1.x and 2.x check: a member is valid if all clients of the era accept it. */
export const DEFINITIONS: Readonly<Record<ListedKind, Rule>> = {
  tool: {
    kind: 'object',
    members: {
      ...NAMED,
      inputSchema: {
        required: true,
        rule: {
          kind: 'object',
          modernFault: headerFault,
          members: {
            type: { rule: oneOf('object'), required: true },
            properties: { rule: PROPERTIES, only: 'legacy' },
            required: { rule: STRINGS, only: 'legacy' },
            $schema: { rule: STRING, only: 'modern' },
          },
        },
      },
      outputSchema: {
        indivisible: true,
        rule: {
          kind: 'object',
          legacyFault: findCompileFault,
          members: {
            type: { rule: oneOf('object'), required: true, only: 'legacy' },
            properties: { rule: PROPERTIES, only: 'legacy' },
            required: { rule: STRINGS, only: 'legacy' },
            $schema: { rule: STRING, only: 'modern' },
          },
        },
      },
      annotations: {
        rule: {
          kind: 'object',
          members: {
            title: { rule: STRING },
            readOnlyHint: { rule: BOOLEAN },
            destructiveHint: { rule: BOOLEAN },
            idempotentHint: { rule: BOOLEAN },
            openWorldHint: { rule: BOOLEAN },
          },
        },
      },
      execution: {
        only: 'legacy',
        rule: {
          kind: 'object',
          members: { taskSupport: { rule: oneOf('required', 'optional', 'forbidden') } },
        },
      },
    },
  },
  prompt: {
    kind: 'object',
    members: {
      ...NAMED,
      arguments: {
        rule: {
          kind: 'array',
          each: {
            kind: 'object',
            members: {
              name: { rule: STRING, required: true },
              description: { rule: STRING },
              required: { rule: BOOLEAN },
            },
          },
        },
      },
    },
  },
  resource: {
    kind: 'object',
    members: { ...ABOUT_RESOURCES, uri: { rule: STRING, required: true }, size: { rule: NUMBER } },
  },
  resourceTemplate: {
    kind: 'object',
    members: { ...ABOUT_RESOURCES, uriTemplate: { rule: STRING, required: true } },
  },
};

/** Such a tool must not be offered, and HTTP clients must leave it out (2026-07-28, server/tools#x-mcp-header). */
function headerFault(inputSchema: unknown): SchemaFault | undefined {
  const found = readHeaderParameters(inputSchema);
  return found.ok ? undefined : found.error;
}

function oneOf(...names: readonly string[]): Rule {
  const message = `is not ${names.map((name) => `"${name}"`).join(' or ')}`;
  return { kind: 'value', message, holds: (value) => names.some((name) => name === value) };
}

/** Without `__proto__`, which the clients' parser skips. */
function entriesOf(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([key]) => key !== '__proto__');
}

/** Recursion is safe: the scan has limited the depth of these values. */
function isFiniteJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value)
    ? value.every(isFiniteJson)
    : entriesOf(value).every(([, inner]) => isFiniteJson(inner));
}

const SHAPE_OF_DATE_TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** RFC 3339 with capital letters, seconds and an offset, on a day that exists. */
function isDateTime(value: unknown): boolean {
  const parts = typeof value === 'string' ? SHAPE_OF_DATE_TIME.exec(value) : null;
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return day <= (isLeap ? 29 : 28);
  return day <= ([4, 6, 9, 11].includes(month) ? 30 : 31);
}
