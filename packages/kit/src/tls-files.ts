/** PEM files for the TLS connections to one server: absolute paths. */
export interface TlsFiles {
  /** Both or neither: a client certificate, with its chain, and its key. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Of an encrypted key. */
  readonly passphrase?: string;
  /** Certificate authorities that are trusted in addition to those of Node. */
  readonly caFile?: string;
}
