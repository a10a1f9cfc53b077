import type { JsonObject } from '../../core/json-object.ts';
import type { Result } from '../../core/result.ts';

/** The code-search server in this process. */
export interface CodebaseProgram {
  /** Serves MCP on stdin and stdout until the client closes its side or `stopped` resolves. */
  readonly serve: (options: {
    readonly isStateless: boolean;
    readonly stopped: Promise<void>;
  }) => Promise<void>;
  /** Calls one of its tools. */
  readonly call: (
    tool: string,
    args: JsonObject,
    context: {
      readonly signal: AbortSignal;
      readonly report: (progress: { readonly message: string }) => void;
    },
  ) => Promise<Result<CodebaseAnswer, CodebaseFault>>;
  readonly close: () => Promise<void>;
}

interface CodebaseAnswer {
  readonly structured: JsonObject;
  readonly text: string;
  readonly isError?: boolean;
}

/** `message` and `remedy` are sentences. */
export interface CodebaseFault {
  readonly code: string;
  /** The argument of the tool that is at fault. */
  readonly field?: string | undefined;
  readonly message: string;
  readonly remedy: string;
}
