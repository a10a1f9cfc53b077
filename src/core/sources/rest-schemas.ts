import { complainAt, isGiven, type Place } from '../json-place.ts';
import type { UrlTemplate } from './url-template.ts';
import { isJsonObject } from '../json-object.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What is given, where it has every argument of the URL; otherwise a schema of these and of those that are mapped. */
export function readInputSchema(
  place: Place,
  template: UrlTemplate | undefined,
  mapped: readonly string[],
): Schema {
  const inUrl = [...(template?.pathArguments ?? []), ...(template?.queryArguments ?? [])];
  if (!isGiven(place)) return schemaOf([...new Set(inUrl)], mapped);
  const schema = readObjectSchema(place);
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const missing = inUrl.filter((name) => !Object.hasOwn(properties, name));
  if (missing.length > 0)
    complainAt(
      place,
      `it has no property ${missing.map((name) => JSON.stringify(name)).join(', ')}, which the URL needs`,
    );
  return schema;
}

export function readOutputSchema(place: Place): Schema | undefined {
  return isGiven(place) ? readObjectSchema(place) : undefined;
}

function schemaOf(required: readonly string[], mapped: readonly string[]): Schema {
  const names = [...new Set([...required, ...mapped])];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    ...(required.length > 0 && { required }),
  };
}

/** Arguments are an object, and so is what is structured (2025-11-25, schema#tool). */
function readObjectSchema(place: Place): Schema {
  const { value } = place;
  if (isJsonObject(value) && value['type'] === 'object') {
    if (value['properties'] === undefined || isJsonObject(value['properties'])) return value;
    complainAt({ ...place, field: `${place.field}.properties` }, 'it must be an object');
  } else complainAt(place, 'it must be a JSON Schema with "type": "object"');
  return { type: 'object' };
}
