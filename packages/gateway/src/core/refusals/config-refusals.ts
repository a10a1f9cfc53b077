import { toWords, quote } from '@assay-mcp/kit/printable';

import { INTERNAL, INVALID_PARAMS, type RefusalTable } from './refusal-row.ts';

/** Refusals about the config, settings and files of this machine. */
export type ConfigRefusal =
  | { readonly code: 'CONFIG_ABSENT'; readonly path: string }
  | { readonly code: 'CONFIG_UNREADABLE'; readonly path: string; readonly reason: string }
  | { readonly code: 'CONFIG_INVALID'; readonly path: string; readonly reason: string }
  /** `at`: the path or one of its parent folders; `reason`: a predicate of `at`; `command`: fixes it. */
  | {
      readonly code: 'PATH_UNSAFE';
      readonly path: string;
      readonly at: string;
      readonly reason: string;
      readonly command: string;
    }
  | { readonly code: 'SERVERS_ABSENT'; readonly path: string }
  | { readonly code: 'SERVER_UNKNOWN'; readonly name: string; readonly known: readonly string[] }
  | { readonly code: 'INSTRUCTIONS_ABSENT'; readonly server: string }
  | { readonly code: 'SETTING_INVALID'; readonly name: string; readonly reason: string }
  | { readonly code: 'SETTING_READ_ONLY'; readonly name: string; readonly env: string }
  | {
      readonly code: 'SETTING_OVERRIDDEN';
      readonly name: string;
      readonly origin: 'environment' | 'config_file';
      /** The environment variable or config file member that sets it. */
      readonly by: string;
    }
  | { readonly code: 'ADDRESS_NEEDS_TOKEN'; readonly host: string }
  | { readonly code: 'ADDRESS_UNUSABLE'; readonly address: string; readonly reason: string }
  /** `reason`: a sentence of the gateway. */
  | { readonly code: 'ATTACH_REFUSED'; readonly reason: string }
  | { readonly code: 'GATEWAY_ENDED' }
  | { readonly code: 'GATEWAY_RUNNING'; readonly pid: number; readonly url: string | undefined }
  | { readonly code: 'CLIENT_UNKNOWN'; readonly name: string; readonly known: readonly string[] }
  | { readonly code: 'CLIENT_ABSENT'; readonly client: string; readonly folder: string }
  | { readonly code: 'CLIENT_NEEDS_COMMAND'; readonly client: string }
  | { readonly code: 'ENTRY_EXISTS'; readonly name: string; readonly path: string }
  | {
      readonly code: 'NOTHING_FOUND';
      readonly places: readonly string[];
      /** Project folders for which the client has servers. */
      readonly projects: readonly string[];
    }
  | { readonly code: 'NOTHING_TO_UNDO'; readonly path: string }
  | { readonly code: 'FILE_UNREADABLE'; readonly path: string; readonly reason: string }
  | { readonly code: 'FILE_UNWRITABLE'; readonly path: string; readonly reason: string }
  /** `command` installs the version that Assay needs; `folder`: where to run it, if that matters. */
  | {
      readonly code: 'PACKAGE_MISSING';
      readonly name: CompanionName;
      readonly version: string;
      readonly command: string;
      readonly folder?: string;
    }
  /** `installed`: the version in `path`. */
  | {
      readonly code: 'PACKAGE_INCOMPATIBLE';
      readonly name: CompanionName;
      readonly version: string;
      readonly path: string;
      readonly installed: string;
      readonly command: string;
      readonly folder?: string;
    }
  /** `reason`: a phrase. */
  | {
      readonly code: 'PACKAGE_NOT_FETCHED';
      readonly name: CompanionName;
      readonly version: string;
      readonly reason: string;
    };

/** Packages of Assay that are installed beside it. */
export type CompanionName = 'assay-verify' | 'assay-codebase';

export const CONFIG_REFUSALS: RefusalTable<ConfigRefusal> = {
  CONFIG_ABSENT: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) =>
      `There is no config file ${quote(r.path)}. Run \`assay\` without arguments to get started.`,
  },
  CONFIG_UNREADABLE: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) => `The config file ${quote(r.path)} cannot be read: ${r.reason}.`,
  },
  CONFIG_INVALID: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) => `The config file ${quote(r.path)} is not valid: ${r.reason}.`,
  },
  PATH_UNSAFE: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) =>
      `Others could change ${quote(r.path)}, and with it what Assay runs: ${formatPathFault(r)}.`,
  },
  SERVERS_ABSENT: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) => `The config file ${quote(r.path)} does not contain a usable server.`,
  },
  INSTRUCTIONS_ABSENT: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `The server ${quote(r.server)} has never sent instructions, so there are none to accept. If you expected some, refresh or restart the server and try again.`,
  },
  SERVER_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) =>
      `The config has no server named ${quote(r.name)}.` +
      (r.known.length === 0 ? '' : ` There are: ${r.known.map(quote).join(', ')}.`),
  },
  SETTING_INVALID: {
    reported: { rpc: INTERNAL, http: 500, rest: 422, exit: 'config' },
    sentence: (r) => `The setting ${r.name} is not valid: ${r.reason}.`,
  },
  SETTING_READ_ONLY: {
    reported: { rpc: INVALID_PARAMS, http: 403, exit: 'config' },
    sentence: (r) =>
      `The setting ${quote(r.name)} controls access to Assay or the addresses it may reach, so it cannot be stored. Set ${r.env}, or settings[${quote(r.name)}] in the config file, and restart Assay.`,
  },
  SETTING_OVERRIDDEN: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'config' },
    sentence: (r) =>
      `The setting ${quote(r.name)} is fixed by the ${toWords(r.origin)} (${r.by}). Change or remove it there.`,
  },
  ADDRESS_NEEDS_TOKEN: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) =>
      `Listening on ${quote(r.host)} lets other machines connect, so a token is required: create one with \`assay token create NAME\`, or set ASSAY_TOKEN to a secret of at least 16 characters (shorter ones are rejected), or set auth.issuer. Or use --host 127.0.0.1.`,
  },
  ATTACH_REFUSED: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) => `The running gateway does not serve this client: ${quote(r.reason)}.`,
  },
  GATEWAY_ENDED: {
    reported: { rpc: INTERNAL, http: 502, exit: 'unavailable' },
    sentence: () =>
      'The gateway ended before it answered, and this client is connected to the next one. The call may have had its effect: check before you repeat it.',
  },
  GATEWAY_RUNNING: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: ({ url, pid }) =>
      `Assay already serves this home${url === undefined ? '' : ` at ${url}`} (pid ${pid}). \`assay status\` shows it, \`assay stop\` ends it.`,
  },
  ADDRESS_UNUSABLE: {
    reported: { rpc: INTERNAL, http: 500, exit: 'unavailable' },
    sentence: (r) => `Cannot listen on ${r.address}: ${r.reason}.`,
  },
  CLIENT_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 400, exit: 'usage' },
    sentence: (r) =>
      `Unknown client ${quote(r.name)}. Known clients: ${r.known.join(', ')}. You can also import from a file.`,
  },
  CLIENT_ABSENT: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) =>
      `${r.client} does not seem to be installed: the folder ${quote(r.folder)} does not exist. Start it once, or use --force to write the file anyway.`,
  },
  CLIENT_NEEDS_COMMAND: {
    reported: { rpc: INVALID_PARAMS, http: 400, exit: 'usage' },
    sentence: (r) =>
      `${r.client} supports only commands in its config file, not URLs. Omit --http: the client then starts \`assay stdio\`, which joins the same servers.`,
  },
  ENTRY_EXISTS: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `The file ${quote(r.path)} already has another server named ${quote(r.name)}. Choose another name with --name, or replace that server with --force.`,
  },
  NOTHING_FOUND: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) =>
      `No MCP server was found. Looked in: ${r.places.map(quote).join(', ')}.` +
      (r.projects.length === 0
        ? ''
        : ` Servers were found with --project ${r.projects.map(quote).join(' or ')}.`),
  },
  NOTHING_TO_UNDO: {
    reported: { rpc: INVALID_PARAMS, http: 400, exit: 'usage' },
    sentence: (r) => `Nothing to undo: Assay has not written to ${quote(r.path)}.`,
  },
  FILE_UNREADABLE: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) => `The file ${quote(r.path)} cannot be read: ${r.reason}.`,
  },
  FILE_UNWRITABLE: {
    reported: { rpc: INTERNAL, http: 500, exit: 'config' },
    sentence: (r) => `The file ${quote(r.path)} cannot be written: ${r.reason}.`,
  },
  PACKAGE_MISSING: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) => `The package ${r.name} is not installed; ${formatInstallation(r)}.`,
  },
  PACKAGE_INCOMPATIBLE: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      `The package ${r.name} in ${quote(r.path)} has the version ${quote(r.installed)}, and Assay ${r.version} needs exactly its own; ${formatInstallation(r)}.`,
  },
  PACKAGE_NOT_FETCHED: {
    reported: { rpc: INTERNAL, http: 502, exit: 'unavailable' },
    sentence: (r) => `The package ${r.name} ${r.version} was not installed: ${quote(r.reason)}.`,
  },
};

/** Why a package of Assay that is installed beside it cannot be used. */
export type PackageRefusal = Extract<
  ConfigRefusal,
  { readonly code: 'PACKAGE_MISSING' | 'PACKAGE_INCOMPATIBLE' | 'PATH_UNSAFE' }
>;

/** What installs a package, as a phrase. */
export function formatInstallation({
  command,
  folder,
}: Pick<Extract<ConfigRefusal, { code: 'PACKAGE_MISSING' }>, 'command' | 'folder'>): string {
  return `install it with \`${command}\`${folder === undefined ? '' : ` in ${quote(folder)}`}`;
}

/** Why others could modify the file at a path, and the remedy; without a full stop. */
export function formatPathFault({
  at,
  reason,
  command,
}: Pick<Extract<ConfigRefusal, { code: 'PATH_UNSAFE' }>, 'at' | 'reason' | 'command'>): string {
  return `${quote(at)} ${reason}; run \`${command}\`, or set ASSAY_FILE_CHECKS=off if you trust every user of this machine`;
}
