import type { Finding } from './finding.ts';
import { describeIgnoredSetting, listIgnoredSettings } from './resolve-settings.ts';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';

export interface NodeFacts {
  /** Without a "v". */
  readonly version: string;
  readonly execPath: string;
  readonly minVersion: string;
  readonly ownVersion: string;
  /** Whether NODE_TLS_REJECT_UNAUTHORIZED leaves the check of certificates on. */
  readonly checksCertificates: boolean;
}

/** Checks whether this Node is new enough and checks certificates, and reports the Assay version. */
export function checkNode(facts: NodeFacts): readonly Finding[] {
  const { version, execPath: about, minVersion, ownVersion, checksCertificates } = facts;
  const message = `Node ${version} runs Assay ${ownVersion}, which needs ${minVersion} or newer`;
  const ofVersion: Finding = isAtLeast(version, minVersion)
    ? { check: 'node', level: 'ok', about, message: `${message}.` }
    : {
        ...{ check: 'node', level: 'problem', about },
        message: `${message}: it may fail anywhere.`,
        remedy: 'Install a newer Node from https://nodejs.org.',
      };
  return checksCertificates ? [ofVersion] : [ofVersion, UNCHECKED_CERTIFICATES];
}

const UNCHECKED_CERTIFICATES: Finding = {
  check: 'node',
  level: 'warning',
  about: 'NODE_TLS_REJECT_UNAUTHORIZED',
  message:
    'TLS certificate verification is off, so anyone on the network path can read and change traffic, including tokens.',
  remedy:
    'Unset NODE_TLS_REJECT_UNAUTHORIZED. To trust a private CA, set "ca" in the entry or NODE_EXTRA_CA_CERTS.',
};

function isAtLeast(version: string, minVersion: string): boolean {
  const numbers = version.split('.').map(Number);
  for (const [index, wanted] of minVersion.split('.').map(Number).entries()) {
    const given = numbers[index] ?? 0;
    if (given !== wanted) return given > wanted;
  }
  return true;
}

export interface HomeFacts {
  readonly path: string;
  readonly is: 'folder' | 'absent' | 'not_a_folder';
  /** Whether the home is writable; if it is absent, whether its parent folder is. */
  readonly isWritable: boolean;
  /** Permission bits. Undefined if the system has none or the home is absent. */
  readonly mode: number | undefined;
  readonly freeBytes: number | undefined;
  /** Why the catalog file cannot be read, as a phrase. */
  readonly catalogFault: string | undefined;
  /** Why other users could modify it, and the command that fixes that. */
  readonly unsafe?: UnsafePath | undefined;
  /** Secret files that other users can access, and why they could modify one. */
  readonly exposed?:
    | readonly { readonly path: string; readonly mode: number; readonly unsafe: UnsafePath | undefined }[]
    | undefined;
}

interface UnsafePath {
  readonly at: string;
  readonly reason: string;
  readonly command: string;
}

const OTHERS = 0o077;
const MB = 1_000_000;
const LITTLE_BYTES = 200 * MB;
const TOO_LITTLE_BYTES = 20 * MB;

/** Checks that the home is usable, private to its owner, and has enough free space. */
export function checkHome(home: HomeFacts): readonly Finding[] {
  const location = checkLocation(home);
  const others = [...checkMode(home), ...checkExposed(home), ...checkSpace(home), ...checkCatalogFile(home)];
  return [location, ...others];
}

function checkLocation({ path, is, isWritable }: HomeFacts): Finding {
  const finding = { check: 'disk', about: path } as const;
  const remedy = 'Give yourself the right to write there, or name another folder with --home or ASSAY_HOME.';
  if (is === 'not_a_folder')
    return {
      ...finding,
      level: 'problem',
      message: 'The home is not a folder, so nothing can be stored there.',
      remedy: 'Name another folder with --home or ASSAY_HOME.',
    };
  if (is === 'folder')
    return isWritable
      ? { ...finding, level: 'ok', message: 'The home exists and can be written.' }
      : {
          ...finding,
          level: 'problem',
          message: 'The home cannot be written, so nothing that is learnt can be kept.',
          remedy,
        };
  return isWritable
    ? {
        ...finding,
        level: 'ok',
        message: 'The home does not exist yet; the first start creates it, accessible only to you.',
      }
    : { ...finding, level: 'problem', message: 'The home does not exist and cannot be made.', remedy };
}

function checkMode({ path, is, mode, unsafe }: HomeFacts): readonly Finding[] {
  if (unsafe !== undefined) {
    const { at, reason, command } = unsafe;
    const message = `Others could change the home, and with it what Assay runs: ${at} ${reason}. Assay refuses to start until this is fixed.`;
    return [{ check: 'disk', level: 'problem', about: path, message, remedy: `Run \`${command}\`.` }];
  }
  if (is !== 'folder' || mode === undefined || (mode & OTHERS) === 0) return [];
  return [
    {
      check: 'disk',
      level: 'warning',
      about: path,
      message: `Other users of this machine can access the home (mode ${(mode & 0o777).toString(8)}), which holds what Assay knows about your servers.`,
      remedy: `Run \`chmod 700 ${quoteShellArgument(path)}\`.`,
    },
  ];
}

function checkExposed({ unsafe: home, exposed = [] }: HomeFacts): readonly Finding[] {
  // Any fault of the home affects everything in it.
  if (home !== undefined) return [];
  return exposed.map(({ path, mode, unsafe }): Finding => {
    const octal = mode.toString(8);
    if (unsafe === undefined)
      return {
        check: 'disk',
        level: 'warning',
        about: path,
        message: `It holds secrets, and other users of this machine can access it (mode ${octal}). The next start removes their access.`,
        remedy: `Run \`chmod 600 ${quoteShellArgument(path)}\`, and replace the secrets if somebody may have read them.`,
      };
    const { at, reason, command } = unsafe;
    const message = `It holds secrets, and others could change it: ${at} ${reason}. Assay refuses to start until this is fixed.`;
    return { check: 'disk', level: 'problem', about: path, message, remedy: `Run \`${command}\`.` };
  });
}

function checkSpace({ path, freeBytes }: HomeFacts): readonly Finding[] {
  if (freeBytes === undefined || freeBytes >= LITTLE_BYTES) return [];
  return [
    {
      check: 'disk',
      level: freeBytes < TOO_LITTLE_BYTES ? 'problem' : 'warning',
      about: path,
      message: `Only ${Math.floor(freeBytes / MB)} MB are free on its disk; once it is full nothing can be kept.`,
      remedy: 'Make room on the disk, or name a folder on another one with --home or ASSAY_HOME.',
    },
  ];
}

function checkCatalogFile({ path, catalogFault }: HomeFacts): readonly Finding[] {
  if (catalogFault === undefined) return [];
  return [
    {
      check: 'disk',
      level: 'warning',
      about: `${path}/catalog.json`,
      message: `What was last seen of the servers cannot be read (${catalogFault}), so each start waits for all of them.`,
      remedy: 'Make the file readable for your user, or delete it: it will be created again.',
    },
  ];
}

const FEW_FILES = 1_024;

/** Checks the limit of open files. Undefined if unknown. */
export function checkOpenFiles(max: number | undefined): readonly Finding[] {
  if (max === undefined || max >= FEW_FILES) return [];
  return [
    {
      check: 'disk',
      level: 'warning',
      about: 'open files',
      message: `Only ${max} files may be open at a time, and each server and each client takes some; beyond that connections are refused.`,
      remedy: `Run \`ulimit -n ${FEW_FILES * 4}\` before Assay starts, or raise the limit of the service that starts it.`,
    },
  ];
}

/** State of the store: the file in the home, or a PostgreSQL database. */
export interface StoreFacts {
  readonly kind: 'file' | 'database';
  /** Without credentials. */
  readonly place: string;
  readonly is: 'absent' | 'whole' | 'earlier' | 'newer' | 'at_fault';
  /** A phrase. */
  readonly fault?: string;
  /** Stored settings. */
  readonly settings?: ReadonlyMap<string, unknown>;
  /** What shows whether a process has the encryption key of the store. */
  readonly keyCheck?: { readonly id: string; readonly bytes: Buffer } | undefined;
}

function earlierStore(kind: StoreFacts['kind'], place: string): Finding {
  return kind === 'file'
    ? {
        check: 'disk',
        level: 'warning',
        about: place,
        message:
          'An earlier build of Assay created the store, and this one cannot read it. The next start sets it aside and creates an empty one.',
        remedy:
          'To keep its data, run `assay export` with the earlier build and `assay import` with this one.',
      }
    : {
        check: 'disk',
        level: 'problem',
        about: place,
        message:
          'An earlier build of Assay created its tables in this database, and this one cannot read them, so it does not start.',
        remedy:
          'Set ASSAY_DATABASE_URL to another database or schema, or drop the tables whose names begin with "assay_"; that deletes their data.',
      };
}

/** Checks that the store is readable and intact. A store that does not exist yet is not reported. */
export function checkStore({
  kind,
  place,
  is,
  fault = '',
  settings = new Map(),
}: StoreFacts): readonly Finding[] {
  if (is === 'absent') return [];
  if (is === 'whole')
    return [
      { check: 'disk', level: 'ok', about: place, message: 'The store can be read and is whole.' },
      ...listIgnoredSettings(settings).map((key): Finding => ({
        check: 'config',
        level: 'warning',
        about: key,
        ...describeIgnoredSetting(key),
      })),
    ];
  if (is === 'earlier') return [earlierStore(kind, place)];
  if (is === 'newer')
    return [
      {
        check: 'disk',
        level: 'problem',
        about: place,
        message: 'A newer Assay wrote the store, so this one does not touch it.',
        remedy: 'Update Assay, or use another home or database.',
      },
    ];
  return [
    {
      check: 'disk',
      level: 'problem',
      about: place,
      message: `The store cannot be used (${fault}), so nothing can be kept in it.`,
      remedy:
        kind === 'file'
          ? 'Put a copy of the file from before in its place, or take it away: a new one is made.'
          : 'Look at ASSAY_DATABASE_URL, and whether the database runs and lets this user in.',
    },
  ];
}
