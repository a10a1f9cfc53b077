import { ok, type Result } from '@assay-mcp/kit/result';
import { OWN_INFO } from '@assay-mcp/kit/version';
import type { RestAuth, RestToolSpec } from '../../../core/sources/custom-tools.ts';
import { readUrlTemplate } from '../../../core/sources/url-template.ts';
import type { RequestPlan, Secret, Slot } from '../http/request-plan.ts';
import { formatAddress } from '../http/request-secrets.ts';
import type { ParameterForm } from '../http/write-values.ts';

const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

const TEXT: ParameterForm = { style: 'text', explode: false, allowReserved: false };
const TEXTS: ParameterForm = { style: 'texts', explode: true, allowReserved: false };
const JSON_VALUE: ParameterForm = { style: 'json', explode: false, allowReserved: false };

/** The requests of a REST tool. The error is the end of a sentence about its URL. */
export function planRequest(spec: RestToolSpec): Result<RequestPlan, string> {
  const template = readUrlTemplate(spec.url);
  if (!template.ok) return template;
  const { origin, path, query } = template.value;
  const hasBody = WITH_BODY.has(spec.method);
  const isForm = spec.bodyType === 'form';
  const secrets = listSecrets(spec.auth);
  const queryMapping = Object.entries(spec.queryMapping);
  const taken = [
    ...query.map(({ name }) => name),
    ...queryMapping.map(([, parameter]) => parameter),
    ...secrets.flatMap(({ location, name }) => (location === 'query' ? [name] : [])),
  ];
  const [, pathText = ''] = /^\w+:\/\/[^/?#]+([^?#]*)/.exec(spec.url) ?? [];
  return ok({
    method: spec.method,
    origin,
    shownUrl: formatAddress(origin, pathText === '' ? '/' : pathText),
    path,
    query: query.map(({ pattern }) => pattern),
    slots: [
      ...path.names.map((name) => toSlot('path', [name, name], TEXT)),
      ...query.flatMap(({ pattern: { names } }) =>
        names.map((name) => toSlot('template', [name, name], names.length === 1 ? TEXTS : TEXT)),
      ),
      ...queryMapping.map((names) => toSlot('query', names, TEXTS)),
      ...Object.entries(spec.headerMapping).map((names) => toSlot('header', names, TEXT)),
    ],
    others: hasBody
      ? { location: 'body', form: isForm ? TEXTS : JSON_VALUE }
      : { location: 'query', form: TEXTS, taken: new Set(taken) },
    ...(hasBody && {
      body: {
        kind: spec.bodyType,
        mediaType: isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        isRequired: true,
        encoding: {},
        binaries: new Set<string>(),
      },
    }),
    defaults: [
      ['accept', 'application/json, */*;q=0.8'],
      ['user-agent', `${OWN_INFO.name}/${OWN_INFO.version}`],
    ],
    headers: Object.entries(spec.headers),
    secrets,
  });
}

function toSlot(
  location: Slot['parameter']['location'],
  [argument, name]: readonly [string, string],
  form: ParameterForm,
): Slot {
  return { argument, parameter: { name, location, form } };
}

function listSecrets(auth: RestAuth | undefined): readonly Secret[] {
  switch (auth?.kind) {
    case 'bearer':
      return [{ location: 'header', name: 'authorization', value: `Bearer ${auth.token}` }];
    case 'basic': {
      // RFC 7617, section 2.1: in UTF-8.
      const pair = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
      return [{ location: 'header', name: 'authorization', value: `Basic ${pair}` }];
    }
    case 'header':
    case 'query':
      return [{ location: auth.kind, name: auth.name, value: auth.value }];
    case undefined:
      return [];
  }
}
