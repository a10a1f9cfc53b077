import type { ResolvedHint, ResolvedHints } from './hints/resolve.ts';
import type { SandboxMode, SandboxRights, TwinRights } from '@assay-mcp/sandbox/rights';
import { formatGap, getGapRemedy, type SandboxSupport } from '@assay-mcp/sandbox/support';

/**
 * The rights with which calls of a tool run on the twin of its server. Undefined if its calls go to the server itself.
 * A claim that only removes rights is enforced whoever made it and whatever was observed, even if the server withdraws
 * it, until that is reviewed: otherwise a server could grant itself rights.
 */
export function computeTwinRights(hints: ResolvedHints): TwinRights | undefined {
  if (!isHeldToReading(hints)) return undefined;
  return isHeldTo(hints.openWorldHint, false) ? 'read' : 'read_network';
}

function isHeldTo(hint: ResolvedHint, value: boolean): boolean {
  const { by } = hint.effective;
  const isOperators = by.kind === 'claim' && by.claim.kind === 'override';
  return claims(hint, value) || (hint.isTakenBack === true && !isOperators);
}

/** Whether calls of a tool must not write, because it claims to be read-only, or did until an unreviewed change. */
export function isHeldToReading({ readOnlyHint }: ResolvedHints): boolean {
  return isHeldTo(readOnlyHint, true);
}

/** Whether a hint claims a value. Ignores observations, since they would give a tool more rights. */
function claims({ effective: { value: current, by }, contradiction }: ResolvedHint, value: boolean): boolean {
  const isObserved = contradiction !== undefined || (by.kind === 'implied' && by.by.kind === 'observed');
  return current === value || isObserved;
}

/** What is enforced for the calls of a tool, whatever its code does. */
export const GUARANTEES = [
  'none',
  'read',
  'read_network',
  'node_permission',
  'write_roots',
  'write_index',
  'refused',
] as const;

export interface GuaranteeView {
  readonly kind: (typeof GUARANTEES)[number];
  /** A sentence or two. */
  readonly text: string;
}

/** The guarantee that is in force for a tool of a server. */
export function computeGuarantee(
  mode: SandboxMode | undefined,
  hints: ResolvedHints,
  support: SandboxSupport,
): GuaranteeView {
  const rights = rightsOf(mode, hints);
  if (rights === undefined) return { kind: 'none', text: mode === 'twin' ? NOT_READ_ONLY : NO_SANDBOX };
  if (support.canEnforce) return { kind: rights, text: RIGHTS_TEXTS[rights] };
  if (support.isOnNode === true && rights !== 'write_roots')
    return { kind: 'node_permission', text: NODE_TEXTS[rights] };
  return {
    kind: 'refused',
    text: `Its calls are refused: ${formatGap(support.gap)}. ${getGapRemedy(support.gap)}`,
  };
}

function rightsOf(mode: SandboxMode | undefined, hints: ResolvedHints): SandboxRights | undefined {
  if (mode === undefined) return undefined;
  return computeTwinRights(hints) ?? (mode === 'strict' ? 'write_roots' : undefined);
}

const NODE_TEXTS: Readonly<Record<TwinRights, string>> = {
  read: "Node's permission model keeps it from changing files, starting programs and using the network. This is weaker than a sandbox: Node does not promise to stop code that is made to break out.",
  read_network:
    "Node's permission model keeps it from changing files and starting programs; its network is not restricted. This is weaker than a sandbox: Node does not promise to stop code that is made to break out.",
};

/** The guarantee for the tools of Assay's own code search. */
export function computeCodebaseGuarantee(support: SandboxSupport): GuaranteeView {
  if (support.canEnforce) return { kind: 'write_index', text: CODEBASE_TEXT };
  return { kind: 'none', text: `No sandbox: ${formatGap(support.gap)}. ${NOT_CONFINED}` };
}

const CODEBASE_TEXT =
  'Runs in a sandbox that reads its folders and changes only its index. It can connect to nothing but its embedding service.';
const NOT_CONFINED = 'Code search then runs with all rights of the user who runs Assay.';

/** The guarantee for a read-only function. */
export const READING_FUNCTION: GuaranteeView = {
  kind: 'none',
  text: 'No sandbox, but Node keeps its process from writing files.',
};

const NO_SANDBOX = 'No sandbox: its server runs with all rights of the user who runs Assay.';
const NOT_READ_ONLY =
  'No sandbox: the tool is not read-only, so it runs with all rights of the user who runs Assay.';

export const RIGHTS_TEXTS: Readonly<Record<SandboxRights, string>> = {
  read: 'Runs in a sandbox that cannot change files and has no network.',
  read_network:
    'Runs in a sandbox that cannot change files. As the tool is open-world, it can connect to the hosts in "network", by default to all at public addresses, through a proxy of Assay.',
  write_roots:
    'Runs in a sandbox that can change files only in the declared roots. It can connect to the hosts in "network", by default to all at public addresses, through a proxy of Assay; with "*" in "network", its network is not restricted.',
};
