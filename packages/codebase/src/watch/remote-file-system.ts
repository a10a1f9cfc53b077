import { statfsSync } from 'node:fs';

/**
 * Types of file systems whose files other machines change without a notice, as in Linux's `magic.h` and the sources of
 * its file systems: NFS, SMB, CIFS, 9P, FUSE (such as sshfs), Ceph, AFS and the folders that virtual machines share.
 */
const REMOTE_TYPES: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f, 0xbacbacbc,
  0x786f4256,
]);

/** Whether a folder is on a network file system. False if the system does not say. */
export function isRemoteFolder(path: string): boolean {
  try {
    // The type is a signed number on some machines.
    return process.platform === 'linux' && REMOTE_TYPES.has(statfsSync(path).type >>> 0);
  } catch {
    return false;
  }
}
