import { Plug } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyText } from '../parts/copy-text.tsx';
import { HostileText } from '../parts/hostile-text.tsx';
import { Page } from '../parts/page.tsx';
import { RISK_LABELS, RiskBadge } from '../parts/risk-badge.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { ToolList } from '../parts/tool-list.tsx';
import { When } from '../parts/when.tsx';
import { groupTools } from '../state/tool-filter.ts';
import type { Risk, ToolRow } from '../state/tools.ts';

const RISKS = Object.keys(RISK_LABELS) as readonly Risk[];
const MANY = 10_000;
const LONG = 'A title that is much longer than any row is wide, as some servers have them '.repeat(4);

const ROWS: readonly ToolRow[] = Array.from({ length: MANY }, (_, at): ToolRow => {
  const title = at === 1 ? LONG : at === 2 ? 'Hidden \u202e text <b>and markup</b>' : `Tool ${at}`;
  const hint = {
    effective: at % 2 === 0,
    decision: at % 2 === 0,
    decidedBy: 'declared',
    isContradicted: at % 7 === 3,
  } as const;
  return {
    id: `tool_${at}`,
    name: `server_tool_${at}`,
    namespacedName: `server.tool_${at}`,
    title,
    server: 'server',
    risk: RISKS[at % RISKS.length] ?? 'unannotated',
    hints: { readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint },
    isContradicted: hint.isContradicted,
    isKnownReadOnly: at % 4 === 0,
    isConsistent: at % 9 === 0,
    studied: at % 7 === 0 ? 'version 1.2.3 was seen to only read in 14 calls' : undefined,
    state: at % 5 === 4 ? 'withheld' : at % 3 === 2 ? 'disabled' : 'enabled',
    drift: at % 11 === 5 ? 'dangerous' : at % 11 === 6 ? 'review' : 'none',
    lint: [],
    text: title.toLowerCase(),
  };
});
const NOTHING: ReadonlySet<string> = new Set();
const ITEMS = groupTools(ROWS, 'risk', NOTHING);

/** The shared parts in their states, for designers. Only in development. */
export function PartsPage(): ReactNode {
  return (
    <Page title="Parts">
      <h2>Badges</h2>
      <p>
        {RISKS.map((risk) => (
          <RiskBadge key={risk} risk={risk} />
        ))}
      </p>
      <h2>Loading</h2>
      <LoadingRows count={3} />
      <h2>Empty</h2>
      <Empty icon={<Plug size={32} aria-hidden />} title="Nothing yet">
        What to do next.
      </Empty>
      <h2>Failed</h2>
      <Failed error={new Error('The reason, as a sentence.')} onRetry={() => undefined} />
      <Failed error={new Error(LONG)} />
      <h2>Texts</h2>
      <p className="description">
        <HostileText text={`${LONG}\u200b<script>alert(1)</script>`} />
      </p>
      <CopyText label="A text to copy" text="assay setup" />
      <p>
        <When at={new Date(Date.now() - 90_000).toISOString()} />
      </p>
      <h2>Many items</h2>
      <ToolList items={ITEMS} collapsed={NOTHING} onToggle={() => undefined} onOpen={() => undefined} />
    </Page>
  );
}
