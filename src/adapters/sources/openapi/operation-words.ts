import { isMembers } from '../../../core/canonical-json.ts';
import { isContradiction, saidHints, type SaidHints } from '../../../core/hints/hint.ts';
import type { Documents } from './documents.ts';
import { isOfOthers, type Operation } from './operations.ts';

/** What a document says of an operation to people and models. */
export interface OperationWords {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  readonly isEnabled: boolean;
  /** Whether one `x-mcp` says both that the operation only reads and that it may destroy. */
  readonly isContradictory: boolean;
}

const LONGEST_DESCRIPTION = 4_096;
const LONGEST_TITLE = 200;

/** `x-mcp` of an operation counts before that of its path, and that before that of the document; of others no hints count. */
export function operationWords(operation: Operation, documents: Documents): OperationWords {
  const { root } = documents;
  const general = extensionOf(isMembers(root.value) ? root.value['x-mcp'] : undefined);
  const own = extensionOf(operation.members['x-mcp']);
  const layers = [general, extensionOf(operation.item.value['x-mcp']), own];
  const trusted = isOfOthers(operation, documents) ? [general] : layers;
  const { summary, description, deprecated } = operation.members;
  const title = textOf(own['title']) ?? textOf(summary) ?? textOf(operation.item.value['summary']);
  const told = textOf(own['description']) ?? textOf(description) ?? textOf(summary);
  const words = deprecated === true ? `Deprecated. ${told ?? ''}`.trim() : told;
  const shownTitle = title === undefined ? undefined : shortened(title, LONGEST_TITLE);
  const annotated = layers
    .map(({ annotations: said }) => annotatedTitle(said))
    .findLast((one) => one !== undefined);
  const shortTitle = annotated === undefined ? shownTitle : shortened(annotated, LONGEST_TITLE);
  const annotations = {
    ...trusted.reduce<SaidHints>((hints, { annotations: said }) => withHints(hints, hintsIn(said)), {}),
    ...(shortTitle !== undefined && { title: shortTitle }),
  };
  return {
    name: textOf(own['name']),
    title: shownTitle,
    description: words === undefined ? undefined : shortened(words, LONGEST_DESCRIPTION),
    annotations: Object.keys(annotations).length === 0 ? undefined : annotations,
    isContradictory: trusted.some(({ annotations: said }) => isContradiction(hintsIn(said))),
    isEnabled: layers.findLast(({ enabled }) => typeof enabled === 'boolean')?.['enabled'] !== false,
  };
}

function annotatedTitle(annotations: unknown): string | undefined {
  const title = isMembers(annotations) ? textOf(annotations['title']) : undefined;
  return title === '' ? undefined : title;
}

/** `x-mcp: false` is short for `{enabled: false}`. */
function extensionOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'boolean') return { enabled: value };
  return isMembers(value) ? value : {};
}

/** Clients refuse a whole list for the sake of one hint that is no boolean. */
function hintsIn(annotations: unknown): SaidHints {
  return isMembers(annotations) ? saidHints(annotations) : {};
}

/** A nearer `x-mcp` outweighs a general one, also where both together would contradict each other. */
function withHints(general: SaidHints, nearer: SaidHints): SaidHints {
  const both = { ...general, ...nearer };
  if (!isContradiction(both)) return both;
  const { readOnlyHint: _, ...withoutReads } = both;
  const { destructiveHint: __, ...withoutDestroys } = both;
  return nearer.readOnlyHint === true ? withoutDestroys : withoutReads;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Never cut within a character. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
