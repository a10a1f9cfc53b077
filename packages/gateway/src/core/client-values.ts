/**
 * Lifetime in ms of the values under Assay's keys that clients carry. Former keys decrypt for as long, so none of these
 * may live longer (docs/adr/0112).
 */
export const CLIENT_VALUE_LIFETIME_MS: number = 24 * 60 * 60 * 1_000;
