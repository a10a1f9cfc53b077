/** The members of an entry that hold credentials, or print them. */
export const CREDENTIAL_MEMBERS = [
  'headers',
  'headerCommand',
  'auth',
  'credentials',
  'clientCertificate',
  'env',
] as const;
