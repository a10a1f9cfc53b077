import type { TlsFiles } from '@assay-mcp/kit/tls-files';

/** The member of an entry that names one of its files for TLS. */
export function formatTlsMember(file: keyof TlsFiles): string {
  return file === 'caFile' ? 'ca' : `clientCertificate.${file}`;
}
