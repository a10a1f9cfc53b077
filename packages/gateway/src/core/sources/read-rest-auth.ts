import { isJsonObject } from '@assay-mcp/kit/json-object';
import { addFault, readMemberAt } from '@assay-mcp/kit/json-position';
import { described, fitText, object, type Reader, getSchema, withSchema } from '@assay-mcp/kit/json-reader';
import { findHeaderNameFault, findHeaderValueFault } from './http-header.ts';
import type { RestAuth } from './custom-tools.ts';

type Kind = RestAuth['kind'];
type Written<K extends Kind> = Omit<Extract<RestAuth, { kind: K }>, 'kind'> & { readonly type?: undefined };

const KINDS: { readonly [K in Kind]: Reader<Written<K>> } = {
  bearer: object<Written<'bearer'>>({
    type: tag('bearer'),
    token: described('sent as Authorization: Bearer …', fitText(tokenFault)),
  }),
  basic: object<Written<'basic'>>({
    type: tag('basic'),
    username: described('sent as Authorization: Basic …', fitText(usernameFault)),
    password: described('sent as Authorization: Basic …', fitText(controlFault)),
  }),
  header: object<Written<'header'>>({
    type: tag('header'),
    name: described('name of the header', fitText(findHeaderNameFault)),
    value: described('value of the header', fitText(filledFault)),
  }),
  query: object<Written<'query'>>({
    type: tag('query'),
    name: described('name of the query parameter', fitText(emptyFault)),
    value: described('value of the query parameter', fitText(textFault)),
  }),
};

/** Credentials, an object with a `type`. Undefined if they are invalid. No fault repeats a value. */
export const restAuth: Reader<RestAuth | undefined> = withSchema(
  (position) => {
    const { value: type } = readMemberAt(position, 'type');
    if (isKind(type)) return { kind: type, ...KINDS[type](position) } as RestAuth; // read by the reader of its kind
    if (isJsonObject(position.value))
      addFault(readMemberAt(position, 'type'), `it must be one of ${Object.keys(KINDS).join(', ')}`);
    else addFault(position, 'it must be an object');
    return undefined;
  },
  () => ({ anyOf: Object.values(KINDS).map(getSchema) }),
);

function isKind(type: unknown): type is Kind {
  return typeof type === 'string' && Object.hasOwn(KINDS, type);
}

/** The `type`, which selected the reader. */
function tag(kind: Kind): Reader<undefined> {
  return described(
    'how the credentials are sent',
    withSchema(
      () => undefined,
      () => ({ const: kind }),
    ),
  );
}

function emptyFault(text: string): string | undefined {
  if (text === '') return 'it is empty';
  return text.isWellFormed() ? undefined : 'it contains an incomplete character (a lone surrogate)';
}

function textFault(text: string): string | undefined {
  return emptyFault(text) ?? controlFault(text);
}

function filledFault(text: string): string | undefined {
  return emptyFault(text) ?? findHeaderValueFault(text);
}

function tokenFault(text: string): string | undefined {
  return /\s/.test(text) ? 'it contains white space' : filledFault(text);
}

/** RFC 7617, section 2. */
function usernameFault(text: string): string | undefined {
  return text.includes(':') ? 'it contains a ":", where the password would begin' : controlFault(text);
}

function controlFault(text: string): string | undefined {
  return /\p{Cc}/u.test(text) ? 'it contains a control character' : undefined;
}
