import type { ListReport } from '../../core/list-report.ts';
import { shortenInstructions, joinInstructions, type Bounded } from '../../core/instructions.ts';
import { sha256 } from '@assay-mcp/kit/digest';
import { FIXED_LIMITS } from '../../core/fixed-limits.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { InstructionsText } from '../../core/record.ts';
import type { ServerDeps } from './server-deps.ts';

type Deps = Pick<ServerDeps, 'limits' | 'instructions' | 'onInstructions'>;

/** The instructions of one server, within the size limit, and the part that models get. */
export class ServerInstructions {
  /** Last seen. Undefined: none. For a remembered text the digest is that of the truncated text. */
  declared: InstructionsText | undefined;
  isCut = false;
  readonly #deps: Deps;

  constructor(deps: Deps, remembered: string | undefined) {
    this.#deps = deps;
    if (remembered !== undefined) this.#take(remembered);
  }

  get totalBytes(): number {
    return this.#deps.limits.instructionsTotalBytes ?? FIXED_LIMITS.instructionsTotalBytes;
  }

  get maxBytes(): number {
    return this.#deps.limits.instructionsBytes ?? FIXED_LIMITS.instructionsBytes;
  }

  /** Records the instructions of a new connection. The comparison with the accepted text runs in the background. */
  connected(spec: ServerSpec, text: string | undefined): void {
    this.#take(text);
    this.#deps.onInstructions?.(spec, this.declared);
  }

  /** The instructions that models get. */
  passed(spec: ServerSpec): string | undefined {
    const { instructions } = this.#deps;
    const text = instructions === undefined ? this.declared?.text : instructions.passed(spec, this.declared);
    return text === undefined ? undefined : shortenInstructions(text, this.maxBytes).text;
  }

  /** Whether the current text waits for a review. */
  hasDrifted(spec: ServerSpec): boolean {
    return this.declared !== undefined && this.#deps.instructions?.stateOf(spec)?.changed !== undefined;
  }

  #take(text: string | undefined): void {
    const bounded = shortenInstructions(text ?? '', this.maxBytes);
    // To models, an empty text is the same as none.
    this.declared =
      text === undefined || text === '' ? undefined : { digest: sha256(text), text: bounded.text };
    this.isCut = bounded.isCut;
  }
}

interface InstructedServer {
  readonly spec: ServerSpec;
  readonly instructions: ServerInstructions;
}

/** The accepted instructions of several servers, joined into one text. */
export function joinServerInstructions(servers: readonly InstructedServer[]): Bounded | undefined {
  const sections = servers.flatMap(({ spec, instructions }) => {
    const text = instructions.passed(spec);
    return text === undefined ? [] : [{ name: spec.name, text }];
  });
  const [first] = servers;
  return first && joinInstructions(sections, first.instructions.totalBytes);
}

/** Reports on the instructions of servers, for people. */
export function buildInstructionsReports(servers: readonly InstructedServer[]): readonly ListReport[] {
  const each = servers.flatMap(({ spec, instructions }): readonly ListReport[] => [
    ...(instructions.isCut
      ? [
          {
            code: 'instructions_limit' as const,
            text: `the instructions of ${spec.name} are cut: they have more than ${instructions.maxBytes} bytes`,
          },
        ]
      : []),
    ...(instructions.hasDrifted(spec)
      ? [
          {
            code: 'instructions_changed' as const,
            text: `the instructions of ${spec.name} changed and wait for a review: models get the accepted text`,
          },
        ]
      : []),
  ]);
  const [first] = servers;
  if (first === undefined || joinServerInstructions(servers)?.isCut !== true) return each;
  const limit = first.instructions.totalBytes;
  return [
    ...each,
    {
      code: 'instructions_limit',
      text: `the longest instructions are cut: all together have more than ${limit} bytes`,
    },
  ];
}
