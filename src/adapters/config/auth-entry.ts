import type { AuthSpec } from '../../core/server-spec.ts';
import type { Place } from './complaints.ts';
import { optionAt, placeAt, textAt, type Entry, type Option } from './entry-fields.ts';
import { membersOf } from './json-tree.ts';

const KEYS: readonly string[] = ['clientId', 'clientSecret', 'scope', 'shared'];

const BOOLEAN: Option<boolean> = {
  wanted: 'true or false',
  read: ({ type, value }) => (type === 'boolean' ? value === true : undefined),
};

/** The key "auth" of a server at a URL; undefined where there is none. What is wrong in it makes the entry bad. */
export function readAuth(entry: Entry): AuthSpec | undefined {
  const place = placeAt(entry, 'auth');
  if (place === undefined) return undefined;
  const { complaints } = entry;
  if (place.node.type !== 'object') {
    complaints.problem(place, 'this is no object', `Write an object with some of ${KEYS.join(', ')}.`);
    return undefined;
  }
  const members = membersOf(place.node);
  for (const { key, keyNode } of members)
    if (!KEYS.includes(key))
      complaints.warn(
        { node: keyNode, path: [...place.path, key] },
        'this key is not known and has no effect',
        `Known here: ${KEYS.join(', ')}.`,
      );
  const fields = new Map(members.map(({ key, value }) => [key, value]));
  const inner: Entry = { ...entry, node: place.node, path: [...entry.path, 'auth'], fields };
  const [clientId, clientSecret, scope] = ['clientId', 'clientSecret', 'scope'].map((key) =>
    wordsAt(inner, key),
  );
  const isShared = optionAt(inner, 'shared', BOOLEAN);
  if (clientSecret !== undefined && clientId === undefined)
    complaints.problem(
      placeAt(inner, 'clientSecret') ?? place,
      'there is a "clientSecret" without a "clientId"',
      'Add the "clientId" to which it belongs.',
    );
  return {
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(scope !== undefined && { scope }),
    ...(isShared !== undefined && { isPersonal: !isShared }),
  };
}

/** Visible ASCII with spaces inside: nothing else can stand in a request for a token (RFC 6749, appendix A). */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

function wordsAt(entry: Entry, key: string): string | undefined {
  const place: Place | undefined = placeAt(entry, key);
  const text = place && textAt(entry, place);
  if (place === undefined || text === undefined || VALUE.test(text)) return text;
  entry.complaints.problem(
    place,
    'this is empty, or holds a line break or another character that it may not',
    'Look for spaces or a line break at the ends of the variable or the text.',
  );
  return undefined;
}
