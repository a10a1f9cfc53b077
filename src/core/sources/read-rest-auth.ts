import { addFault, fitTextAt, memberAt, membersAt, type JsonPosition } from '../json-position.ts';
import { headerNameFault, headerValueFault } from './http-header.ts';
import type { RestAuth } from './custom-tools.ts';

/** The members of each type besides `type`. */
const MEMBERS: Readonly<Record<RestAuth['kind'], readonly string[]>> = {
  bearer: ['token'],
  basic: ['username', 'password'],
  header: ['name', 'value'],
  query: ['name', 'value'],
};

/** Undefined if it is invalid; the faults are then added to the position. No fault repeats a value. */
export function readRestAuth(position: JsonPosition): RestAuth | undefined {
  const before = position.faults.length;
  const members = membersAt(position);
  if (position.faults.length > before) return undefined;
  const { value: type } = memberAt(position, 'type');
  const at = (member: string): JsonPosition => memberAt(position, member);
  if (!isKind(type)) {
    addFault(at('type'), `it must be one of ${Object.keys(MEMBERS).join(', ')}`);
    return undefined;
  }
  for (const [name, member] of members)
    if (name !== 'type' && !MEMBERS[type].includes(name))
      addFault(member, `it does not belong to ${type}, which has ${MEMBERS[type].join(' and ')}`);
  switch (type) {
    case 'bearer':
      return { kind: type, token: fitTextAt(at('token'), tokenFault) };
    case 'basic':
      return {
        kind: type,
        username: fitTextAt(at('username'), usernameFault),
        password: fitTextAt(at('password'), controlFault),
      };
    case 'header':
      return {
        kind: type,
        name: fitTextAt(at('name'), headerNameFault),
        value: fitTextAt(at('value'), filledFault),
      };
    case 'query':
      return {
        kind: type,
        name: fitTextAt(at('name'), emptyFault),
        value: fitTextAt(at('value'), textFault),
      };
  }
}

function isKind(type: unknown): type is RestAuth['kind'] {
  return typeof type === 'string' && Object.hasOwn(MEMBERS, type);
}

function emptyFault(text: string): string | undefined {
  if (text === '') return 'it is empty';
  return text.isWellFormed() ? undefined : 'it contains an incomplete character (a lone surrogate)';
}

function textFault(text: string): string | undefined {
  return emptyFault(text) ?? controlFault(text);
}

function filledFault(text: string): string | undefined {
  return emptyFault(text) ?? headerValueFault(text);
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
