import { resolve } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { computeShortHash } from '@assay-mcp/kit/digest';
import {
  DEFAULT_OUTPUT_VALIDATION,
  OUTPUT_VALIDATION_ABOUT,
  OUTPUT_VALIDATIONS,
} from '../../core/sources/output-validation.ts';
import { isOperationPattern } from '../../core/sources/operation-filter.ts';
import type { Credential, Transport, TransportOf } from '../../core/server-spec.ts';
import type { ConfigPosition } from './problem-collector.ts';
import { described, oneOf, record, text, wholeNumber, withSchema } from '@assay-mcp/kit/json-reader';
import {
  readOptionAt,
  findPositionAt,
  expandTextAt,
  expandTextsAt,
  type Entry,
  type EntryMembers,
} from './entry-fields.ts';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';
import { PROXY_MEMBERS, readProxy } from './proxy-entry.ts';
import { headersMember, httpUrl, readHeaders } from './http-entry.ts';
import { getTreeMembers } from './json-tree.ts';
import { patternList, readPatternLists } from './pattern-lists.ts';

const DEFAULT_MAX_BYTES = 1_048_576;
const MAX_BYTES_LIMIT = 52_428_800;
/** Maximum length of an inline document, in UTF-16 units. */
const MAX_TEXT_LENGTH = 4 * 1024 * 1024;
const UPLOAD_HASH_DIGITS = 16;

const operations = readPatternLists(
  ['include', 'exclude'],
  patternList((pattern) =>
    isOperationPattern(pattern)
      ? undefined
      : 'it must be a pattern such as "tag:pets", "/pets/*" or "DELETE /*"',
  ),
);
const outputValidation = oneOf(OUTPUT_VALIDATIONS);
const maxBytes = wholeNumber({ min: 1, max: MAX_BYTES_LIMIT });
const TEXT_OR_NUMBER = { type: ['string', 'number'] };
const credential = withSchema(
  ({ value }) => value,
  () => ({
    anyOf: [
      { type: 'string' },
      {
        type: 'object',
        properties: {
          username: { description: 'sent as Authorization: Basic …', ...TEXT_OR_NUMBER },
          password: { description: 'sent as Authorization: Basic …', ...TEXT_OR_NUMBER },
        },
        required: ['username', 'password'],
        additionalProperties: false,
      },
    ],
  }),
);

/** A test compares the descriptions with docs/OPENAPI.md. */
export const OPENAPI_MEMBERS: EntryMembers = {
  openapi: described(
    'the path of the document, relative to the folder of the config, or its URL',
    withSchema(text, () => ({ type: 'string', minLength: 1 })),
  ),
  document: described(
    'the document itself as a string, JSON or YAML of at most 4 MiB, instead of openapi; its $refs to other documents must be URLs',
    withSchema(text, () => ({ type: 'string', minLength: 1, maxLength: MAX_TEXT_LENGTH })),
  ),
  baseUrl: described("where the API is, instead of the document's servers", httpUrl),
  headers: headersMember,
  credentials: described(
    'by name of the security scheme: a token or key, or {"username", "password"}',
    record(credential),
  ),
  operations: described(
    'which operations become tools: include and exclude, each a list of tag:NAME, /path or METHOD /path, in which * stands for any characters; exclude wins',
    operations,
  ),
  maxBytes: described('maximum number of response bytes; 1048576 by default', maxBytes),
  outputValidation: described(`${OUTPUT_VALIDATION_ABOUT}; warn by default`, outputValidation),
  ...PROXY_MEMBERS,
};

/**
 * Reads an OpenAPI source by path, URL or text. Undefined, with an error reported, if the document is missing or invalid.
 */
export function readOpenapi(entry: Entry): Transport | undefined {
  const document = readDocument(entry);
  const baseUrl = readBaseUrl(entry);
  const headers = readHeaders(entry);
  const credentials = readCredentials(entry);
  const filter = readOptionAt(entry, 'operations', operations);
  const proxy = readProxy(entry);
  if (document === undefined) return undefined;
  return {
    kind: 'openapi',
    ...proxy,
    ...document,
    ...(baseUrl !== undefined && { baseUrl }),
    headers,
    credentials,
    ...(filter !== undefined && { operations: filter }),
    maxBytes: readOptionAt(entry, 'maxBytes', maxBytes) ?? DEFAULT_MAX_BYTES,
    outputValidation: readOptionAt(entry, 'outputValidation', outputValidation) ?? DEFAULT_OUTPUT_VALIDATION,
  };
}

type Source = Pick<TransportOf<'openapi'>, 'document' | 'text'>;

function readDocument(entry: Entry): Source | undefined {
  const [position, inline] = [findPositionAt(entry, 'openapi'), findPositionAt(entry, 'document')];
  if (position === undefined && inline !== undefined) return readInline(entry, inline);
  if (inline !== undefined) {
    entry.collector.problem(
      inline,
      'there are both "openapi" and "document"',
      'Keep the one that has the document.',
    );
    return undefined;
  }
  const document = position === undefined ? undefined : readLocation(entry, position);
  if (position !== undefined) return document === undefined ? undefined : { document };
  entry.collector.problem(
    entry,
    'the key "openapi" is missing',
    'Write the path or the URL of an OpenAPI document.',
  );
  return undefined;
}

/** Not expanded: a document may contain `${…}` of its own. */
function readInline(entry: Entry, position: ConfigPosition): Source | undefined {
  const value: unknown = getNodeValue(position.node);
  const text = typeof value === 'string' ? value.replace(/^\uFEFF/, '') : '';
  if (text.trim() !== '' && text.length <= MAX_TEXT_LENGTH)
    return { document: `upload:${computeShortHash(text, UPLOAD_HASH_DIGITS)}`, text };
  entry.collector.problem(
    position,
    text.trim() === '' ? 'this is not the text of a document' : `this has over ${MAX_TEXT_LENGTH} characters`,
    'Write an OpenAPI document as JSON or YAML in a string, or its path or URL as "openapi".',
  );
  return undefined;
}

/** An absolute path, or a URL. */
function readLocation(entry: Entry, position: ConfigPosition): string | undefined {
  const written = expandTextAt(entry, position);
  if (written === undefined) return undefined;
  if (/^https?:\/\//i.test(written)) return urlAt(entry, position, written)?.href;
  // A path must not look like a URL: otherwise a caller limited to URLs could name a file (`http:/../secrets.json`).
  if (written === '' || /^[a-z][a-z\d+.-]+:/i.test(written)) {
    entry.collector.problem(
      position,
      'this is neither a path nor a http or https URL',
      'Write the path or the URL of an OpenAPI document.',
    );
    return undefined;
  }
  return resolve(entry.here.configDir, expandHome(written, entry.here.home));
}

function readBaseUrl(entry: Entry): string | undefined {
  const position = findPositionAt(entry, 'baseUrl');
  const written = position && expandTextAt(entry, position);
  return position === undefined || written === undefined ? undefined : urlAt(entry, position, written)?.href;
}

function urlAt(entry: Entry, position: ConfigPosition, written: string): URL | undefined {
  const url = URL.parse(written);
  // The value is not repeated: it may contain a password or key.
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    entry.collector.problem(
      position,
      'this is not an http or https URL',
      'Write an address that starts with https://.',
    );
    return undefined;
  }
  if (url.username === '' && url.password === '') return url;
  entry.collector.problem(
    position,
    'the URL contains credentials, which lists and logs would show',
    'Give them in "credentials" or "headers".',
  );
  return undefined;
}

/** `{"apiKey": "…", "basicAuth": {"username": "…", "password": "…"}}` */
function readCredentials(entry: Entry): Readonly<Record<string, Credential>> {
  const position = findPositionAt(entry, 'credentials');
  if (position === undefined) return {};
  const remedy =
    'Write an object: the name of each security scheme, and its token, or {"username", "password"}.';
  if (position.node.type !== 'object') {
    entry.collector.problem(position, 'this is not an object', remedy);
    return {};
  }
  const found = getTreeMembers(position.node).flatMap(
    ({ key, value }): readonly (readonly [string, Credential])[] => {
      const at: ConfigPosition = { node: value, path: [...position.path, key] };
      if (value.type === 'string') return textCredential(entry, key, at);
      const fields = new Map(getTreeMembers(value).map((member) => [member.key, member.value]));
      const inner: Entry = {
        ...entry,
        node: position.node,
        path: [...entry.path, 'credentials'],
        fields: new Map([[key, value]]),
      };
      const texts = new Map(expandTextsAt(inner, key).map(({ name, text }) => [name, text]));
      const [username, password] = [texts.get('username'), texts.get('password')];
      if (username !== undefined && password !== undefined && fields.size === 2)
        return [[key, { username, password }]];
      entry.collector.problem(at, 'this is not a credential', remedy);
      return [];
    },
  );
  return Object.fromEntries(found);
}

function textCredential(
  entry: Entry,
  key: string,
  at: ConfigPosition,
): readonly (readonly [string, string])[] {
  const text = expandTextAt(entry, at);
  return text === undefined ? [] : [[key, text]];
}
