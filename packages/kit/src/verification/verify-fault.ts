/** Why a server could not be verified. */
export type VerifyFault =
  | {
      readonly code: 'FIXTURES_INVALID' | 'BASELINE_INVALID';
      readonly file: string;
      readonly field: string;
      readonly problem: string;
    }
  | { readonly code: 'FILE_UNREADABLE' | 'FILE_UNWRITABLE'; readonly file: string; readonly problem: string }
  | { readonly code: 'ARGUMENTS_INVALID'; readonly reason: string }
  /** The server did not start or did not answer. `message`: its own error text, or the reason. */
  | { readonly code: 'SERVER_FAILED'; readonly message: string }
  /** `reason`: the end of a sentence. */
  | { readonly code: 'PACKAGE_NOT_FETCHED'; readonly name: string; readonly reason: string }
  /** This machine cannot confine a server. */
  | {
      readonly code: 'SANDBOX_UNAVAILABLE';
      readonly missing: readonly { readonly why: string; readonly install: string }[];
    }
  | { readonly code: 'TOOL_UNKNOWN'; readonly name: string; readonly known: readonly string[] };

/** One or more sentences; must be escaped before printing. */
export function formatVerifyFault(fault: VerifyFault): string {
  switch (fault.code) {
    case 'SERVER_FAILED':
      return `The server did not start in the sandbox: ${fault.message}`;
    case 'PACKAGE_NOT_FETCHED':
      return `The package ${fault.name} could not be fetched: ${fault.reason}.`;
    case 'SANDBOX_UNAVAILABLE':
      // Several mechanisms may lack the same thing.
      return [...new Set(fault.missing.map(({ why, install }) => `${why} ${install}`))].join('\n');
    case 'TOOL_UNKNOWN':
      return `The server has no tool ${JSON.stringify(fault.name)}. It has ${fault.known.join(', ')}.`;
    case 'FILE_UNREADABLE':
      return `${fault.file} cannot be read: ${fault.problem}`;
    case 'FILE_UNWRITABLE':
      return `The file ${JSON.stringify(fault.file)} cannot be written: ${fault.problem}.`;
    case 'ARGUMENTS_INVALID':
      return `The arguments are not valid: ${fault.reason}.`;
    case 'FIXTURES_INVALID':
    case 'BASELINE_INVALID':
      return `${[fault.file, fault.field, fault.problem].filter((part) => part !== '').join(': ')}. See docs/VERIFY.md.`;
  }
}
