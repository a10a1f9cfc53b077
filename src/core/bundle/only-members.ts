import { complainAt, isGiven, memberAt, type Place } from '../json-place.ts';

/** Complains where a place holds no object, and of each member that nobody would read. */
export function onlyMembers(place: Place, known: readonly string[]): void {
  const { value } = place;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    complainAt(place, isGiven(place) ? 'it must be an object' : 'it is missing');
    return;
  }
  for (const name of Object.keys(value))
    if (!known.includes(name))
      complainAt(memberAt(place, name), `there is no such member; there are ${known.join(', ')}`);
}
