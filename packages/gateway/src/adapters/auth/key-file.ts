import { lstatSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { isUtf8 } from 'node:buffer';
import process from 'node:process';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { readBytesWithin } from '@assay-mcp/kit/platform/bounded-file';
import { findUnsafePath, type PathChecks } from '@assay-mcp/kit/platform/path-safety';
import { type EncryptionKey, parseKey } from './encryption-key.ts';

/** The encryption keys, newest first: the first one encrypts, all of them decrypt. */
export type KeyList = readonly [EncryptionKey, ...EncryptionKey[]];

const MAX_BYTES = 16 * 1024;
const MAX_KEYS = 16;
const MAX_NAMED_FAULTS = 5;

/** Reads ASSAY_KEY_FILE. The error is the end of a sentence and contains nothing of the file. */
export async function readKeyFile(path: string, checks: PathChecks): Promise<Result<KeyList, string>> {
  const unsafe = findUnsafePath(path, checks);
  if (unsafe !== undefined) return err(`${unsafe.at} ${unsafe.reason}; run \`${unsafe.command}\``);
  const read = await readBytesWithin(path, MAX_BYTES);
  if (!read.ok) return err(read.error.reason);
  const { bytes, facts } = read.value;
  const exposed = checks.env['ASSAY_FILE_CHECKS'] === 'off' ? undefined : findExposure(path, facts);
  if (exposed !== undefined) return err(exposed);
  return isUtf8(bytes)
    ? parseKeyFile(bytes.toString('utf8').replace(/^\uFEFF/, ''), JSON.stringify(path))
    : err('it is not UTF-8 text');
}

/**
 * One key per line, newest first. Blank lines and everything after `#` are ignored. The error names the lines at fault,
 * without their content.
 */
export function parseKeyFile(text: string, place: string): Result<KeyList, string> {
  const keys: EncryptionKey[] = [];
  const lines = new Map<string, number>();
  const faults: string[] = [];
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const content = line.replace(/#.*$/, '').trim();
    if (content === '') continue;
    const number = index + 1;
    const key = parseKey(content, `line ${number} of ${place}`);
    const former = key.ok ? lines.get(key.value.id) : undefined;
    if (!key.ok) faults.push(`line ${number}: ${key.error}`);
    else if (former !== undefined) faults.push(`line ${number}: it is the same key as in line ${former}`);
    else {
      lines.set(key.value.id, number);
      keys.push(key.value);
      if (keys.length === MAX_KEYS + 1) faults.push(`line ${number}: at most ${MAX_KEYS} keys are allowed`);
    }
  }
  if (faults.length > MAX_NAMED_FAULTS)
    faults.splice(MAX_NAMED_FAULTS, Infinity, `and ${faults.length - MAX_NAMED_FAULTS} more`);
  if (faults.length > 0) return err(faults.join('; '));
  const [newest, ...older] = keys;
  return newest === undefined
    ? err('it contains no key; put one into it with `openssl rand -base64 32`')
    : ok([newest, ...older]);
}

const GROUP_READS = 0o040;
const OTHERS = 0o007;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Why others can read the file, or replace the link that leads to it. The group may read it if it belongs to root, which
 * chose that group: a mounted secret of Kubernetes with `fsGroup`, or `root:assay` with mode 0640.
 */
function findExposure(path: string, { mode, uid }: Stats): string | undefined {
  const own = process.getuid?.();
  if (own === undefined) return undefined;
  const octal = (mode & 0o777).toString(8);
  if ((mode & OTHERS) !== 0)
    return `every user of this machine can read it (mode ${octal}); run \`chmod o-rwx ${quoteShellArgument(path)}\`, or mount it with mode 0440`;
  if ((mode & GROUP_READS) !== 0 && uid !== 0)
    return `its group can read it (mode ${octal}), which is allowed only if it belongs to root; run \`chmod 600 ${quoteShellArgument(path)}\``;
  return findLinkFault(path, own);
}

function findLinkFault(path: string, own: number): string | undefined {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link?.isSymbolicLink() !== true) return undefined;
  if (link.uid !== own && link.uid !== 0)
    return `it is a link that belongs to another user (uid ${link.uid})`;
  const folder = statSync(dirname(path));
  const isReplaceable = (folder.mode & OTHERS_WRITE) !== 0 && (folder.mode & STICKY) === 0;
  return isReplaceable ? 'it is a link in a folder in which others can replace it' : undefined;
}
