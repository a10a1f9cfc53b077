import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { at, isObject, type Json } from './json.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];

/** Every violation of OpenAPI 3.1 that would break a reader, and every example that its own schema rejects. */
export function faultsOf(document: Json): readonly string[] {
  const faults: string[] = [];
  if (!/^3\.1\.\d+$/.test(String(at(document, 'openapi')))) faults.push('it is not OpenAPI 3.1');
  const ids = new Set<Json | undefined>();
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'doc:', ...(document as object) });
  for (const [path, item] of entries(at(document, 'paths'))) {
    if (!path.startsWith('/')) faults.push(`${path}: a path begins with a slash`);
    for (const [method, operation] of entries(item)) {
      const name = `${method.toUpperCase()} ${path}`;
      if (!METHODS.includes(method)) faults.push(`${name}: there is no such method`);
      const id = at(operation, 'operationId');
      if (typeof id !== 'string' || ids.has(id)) faults.push(`${name}: its operationId is missing or taken`);
      ids.add(id);
      faults.push(...faultsOfParameters(name, path, at(operation, 'parameters')));
      const parts = [
        ['requestBody', at(operation, 'requestBody')] as const,
        ...entries(at(operation, 'responses')),
      ];
      for (const [part, holder] of parts) {
        if (part !== 'requestBody' && typeof at(holder, 'description') !== 'string')
          faults.push(`${name} ${part}: it has no description`);
        for (const [type, media] of entries(at(holder, 'content'))) {
          const place = [
            'paths',
            path,
            method,
            ...(part === 'requestBody' ? [part] : ['responses', part]),
            'content',
            type,
            'schema',
          ];
          for (const example of examplesOf(media))
            if (
              at(media, 'schema') !== undefined &&
              !ajv.validate({ $ref: `doc:#${pointer(place)}` }, example)
            )
              faults.push(`${name} ${part}: ${ajv.errorsText()} in ${JSON.stringify(example)}`);
        }
      }
    }
  }
  return faults;
}

function faultsOfParameters(name: string, path: string, parameters: Json | undefined): readonly string[] {
  const given = (Array.isArray(parameters) ? (parameters as readonly Json[]) : []).filter(
    (one) => at(one, 'in') === 'path',
  );
  const names = given.map((one) => String(at(one, 'name')));
  const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, part = '']) => part);
  const isSame = JSON.stringify([...names].sort()) === JSON.stringify([...wanted].sort());
  const isRequired = given.every((one) => at(one, 'required') === true);
  return isSame && isRequired ? [] : [`${name}: its parameters are not those of its path`];
}

function examplesOf(media: Json): readonly (Json | undefined)[] {
  const one = at(media, 'example');
  const some = entries(at(media, 'examples')).map(([, example]) => at(example, 'value'));
  return one === undefined ? some : [one, ...some];
}

function pointer(steps: readonly string[]): string {
  return steps
    .map((one) => `/${encodeURIComponent(one.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');
}

function entries(value: Json | undefined): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries<Json>(value) : [];
}
