import type { ReactNode } from 'react';
import { HostileText } from '../hostile-text.tsx';

interface Property {
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

const MAX_PROPERTIES = 200;
const MAX_DEPTH = 8;

/** The properties of a JSON Schema, with nested ones shown by their path. */
export function SchemaTable({ schema }: { readonly schema: unknown }): ReactNode {
  const found = propertiesOf(schema, '', 0);
  if (found.length === 0) return <p className="quiet">No properties.</p>;
  return (
    <ul className="schema">
      {found.slice(0, MAX_PROPERTIES).map(({ path, type, isRequired, description }) => (
        <li key={path}>
          <code>
            <HostileText text={path} />
          </code>{' '}
          <span className="quiet">
            <HostileText text={type} />
          </span>{' '}
          {isRequired && <span className="badge">required</span>}
          {description !== '' && (
            <p className="small">
              <HostileText text={description} />
            </p>
          )}
        </li>
      ))}
      {found.length > MAX_PROPERTIES && <li className="quiet">More are in the JSON below.</li>}
    </ul>
  );
}

function propertiesOf(schema: unknown, path: string, depth: number): readonly Property[] {
  if (!isObject(schema) || depth > MAX_DEPTH) return [];
  const { properties, required, items } = schema;
  const named = isObject(properties) ? Object.entries(properties).slice(0, MAX_PROPERTIES) : [];
  const own = named.flatMap(([name, one]): readonly Property[] => {
    const at = path === '' ? name : `${path}.${name}`;
    const isRequired = Array.isArray(required) && required.includes(name);
    const described = isObject(one) && typeof one['description'] === 'string' ? one['description'] : '';
    const row = { path: at, type: typeOf(one), isRequired, description: described };
    return [row, ...propertiesOf(one, at, depth + 1)];
  });
  return [...own, ...propertiesOf(items, `${path}[]`, depth + 1)];
}

function typeOf(schema: unknown): string {
  if (!isObject(schema)) return 'any';
  const { type, items, format } = schema;
  const values = schema['enum'];
  if (Array.isArray(values))
    return `one of ${values
      .slice(0, 20)
      .map((value) => JSON.stringify(value))
      .join(', ')}`;
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any';
  if (name === 'array') return `array of ${typeOf(items)}`;
  const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'default']
    .filter((key) => schema[key] !== undefined)
    .map((key) => `${key} ${JSON.stringify(schema[key])}`);
  return [name, ...(typeof format === 'string' ? [format] : []), ...bounds].join(', ');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
