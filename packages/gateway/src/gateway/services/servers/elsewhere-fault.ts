import type { EntryFault } from '@assay-mcp/kit/json-position';
import { CREDENTIAL_MEMBERS } from '../../../core/secrets/credential-members.ts';
import { URL_KEYS } from '../../../core/sources/url-keys.ts';
import type { ConfigEntry } from '../../ports/config-entries.ts';

/** Refuses a change that would send a credential to a different origin than the one it was given for. */
export function findElsewhereFault(former: ConfigEntry, edits: ConfigEntry): EntryFault | undefined {
  const [before, after] = [originOf(former), originOf({ ...former, ...edits })];
  const isElsewhere = before !== undefined && after !== undefined && before !== after;
  // The environment of a process goes nowhere else.
  const left = CREDENTIAL_MEMBERS.find(
    (field) => field !== 'env' && isPresent(former[field]) && edits[field] === undefined,
  );
  if (!isElsewhere || left === undefined) return undefined;
  return {
    field: DESTINATIONS.find((member) => edits[member] !== undefined) ?? 'url',
    reason: `it leads to another origin than "${left}" was given for; give "${left}" again, or null`,
  };
}

/** Members that determine the destination, in order of precedence. The OpenAPI document does if no URL is given. */
const DESTINATIONS = [...URL_KEYS, 'baseUrl', 'openapi', 'document'];

function originOf(entry: ConfigEntry): string | undefined {
  const url = DESTINATIONS.map((member) => entry[member]).find(isPresent);
  return typeof url === 'string' ? (URL.parse(url)?.origin ?? url) : undefined;
}

/** Null removes a member. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
