import { resolve } from 'node:path';
import { described, objectSchema, optional, type Reader, text, withSchema } from '@assay-mcp/kit/json-reader';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';
import type { TlsFiles } from '@assay-mcp/kit/tls-files';
import { type Entry, type EntryMembers, expandTextAt, findPositionAt } from './entry-fields.ts';
import { getTreeMembers } from './json-tree.ts';

const MEMBERS = {
  certFile: described('PEM file of the certificate, with its chain', text),
  keyFile: described('PEM file of its private key', text),
  passphrase: described('of an encrypted key', optional(text)),
};

const certificate: Reader<unknown> = withSchema(
  ({ value }) => value,
  () => ({ ...objectSchema(MEMBERS), additionalProperties: false }),
);

/** A test compares the descriptions with docs/CONFIG.md. */
export const TLS_MEMBERS: EntryMembers = {
  clientCertificate: described(
    'client certificate for its origin and the authorization servers that auth names: { "certFile": "…", "keyFile": "…", "passphrase": "…" }, PEM files',
    certificate,
  ),
  ca: described('PEM file of certificate authorities that are trusted there, beside those of Node', text),
};

/** The certificates of a server at a URL. Undefined if it has none, or an error was reported. */
export function readTls(entry: Entry, url: URL | undefined): TlsFiles | undefined {
  const caFile = readPathAt(entry, 'ca');
  const own = readClientCertificate(entry);
  if (caFile === undefined && own === undefined) return undefined;
  const position = findPositionAt(entry, own === undefined ? 'ca' : 'clientCertificate');
  if (position !== undefined && url?.protocol === 'http:')
    entry.collector.problem(
      position,
      'the "url" begins with http://, so no certificate is used',
      'Write an address that begins with https://, or leave the key out.',
    );
  return { ...own, ...(caFile !== undefined && { caFile }) };
}

function readClientCertificate(
  entry: Entry,
): Pick<TlsFiles, 'certFile' | 'keyFile' | 'passphrase'> | undefined {
  const position = findPositionAt(entry, 'clientCertificate');
  if (position === undefined) return undefined;
  const { collector } = entry;
  const remedy = 'Write {"certFile": "cert.pem", "keyFile": "key.pem"}, and "passphrase" if the key has one.';
  if (position.node.type !== 'object') {
    collector.problem(position, 'this is not an object', remedy);
    return undefined;
  }
  const members = getTreeMembers(position.node);
  for (const { key, keyNode } of members)
    if (!Object.hasOwn(MEMBERS, key))
      collector.problem({ node: keyNode, path: [...position.path, key] }, 'this key is unknown', remedy);
  const fields = new Map(members.map(({ key, value }) => [key, value]));
  const path = [...entry.path, 'clientCertificate'];
  const inner: Entry = { ...entry, node: position.node, path, fields };
  for (const key of ['certFile', 'keyFile'])
    if (!fields.has(key)) collector.problem(position, `"${key}" is missing`, remedy);
  const [certFile, keyFile] = [readPathAt(inner, 'certFile'), readPathAt(inner, 'keyFile')];
  const at = findPositionAt(inner, 'passphrase');
  const passphrase = at && expandTextAt(inner, at);
  if (certFile === undefined || keyFile === undefined) return undefined;
  return { certFile, keyFile, ...(passphrase !== undefined && { passphrase }) };
}

/** A relative path starts at the folder of the config file. */
export function readPathAt(entry: Entry, key: string): string | undefined {
  const { configDir, home } = entry.here;
  const position = findPositionAt(entry, key);
  const written = position && expandTextAt(entry, position);
  if (position === undefined || written === undefined) return undefined;
  if (written.trim() !== '') return resolve(configDir, expandHome(written, home));
  entry.collector.problem(position, 'the path is empty', 'Write the path of a PEM file.');
  return undefined;
}
