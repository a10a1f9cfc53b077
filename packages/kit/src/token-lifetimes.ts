/** What the CLI and the pages propose for a new token. A token created through REST without a lifetime has none. */
export const DEFAULT_TOKEN_LIFETIME = '90d';
