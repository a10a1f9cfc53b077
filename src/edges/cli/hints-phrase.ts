import type { ToolView } from '../../gateway/hints/tool-view.ts';

/** "read-only (inferred: GET request)" */
export function hintsPhrase({ hints }: Pick<ToolView, 'hints'>): string {
  const { readOnlyHint, destructiveHint, idempotentHint } = hints;
  const deciding = readOnlyHint.effective ? readOnlyHint : destructiveHint;
  const risk = readOnlyHint.effective ? 'read-only' : destructiveHint.effective ? 'destructive' : 'writes';
  const more = !readOnlyHint.effective && idempotentHint.effective ? ', idempotent' : '';
  const [claim] = deciding.claims.filter(({ kind }) => kind === deciding.decidedBy);
  const why = claim?.reason === undefined ? deciding.decidedBy : `${deciding.decidedBy}: ${claim.reason}`;
  return `${risk}${more} (${why})`;
}
