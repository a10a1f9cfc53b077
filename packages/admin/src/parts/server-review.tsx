import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { CircleCheckBig } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Drift, ToolPage } from '../../../gateway/src/api/tool.ts';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import {
  acceptDefinition,
  acceptInstructions,
  changedInstructionsQuery,
  driftQuery,
  instructionsQuery,
} from '../state/servers.ts';
import { useIsAdmin } from '../state/session.ts';
import { BeforeAfter } from './before-after.tsx';
import { HostileText } from './hostile-text.tsx';
import { Empty, Failed, LoadingRows } from './states.tsx';
import { When } from './when.tsx';

interface ServerReviewProps {
  readonly gateway: Gateway;
  readonly drifted: UseQueryResult<ToolPage>;
}

/** Differences between a server's definitions and instructions and the accepted ones. */
export function ServerReview({ gateway, drifted }: ServerReviewProps): ReactNode {
  const changed = useQuery(changedInstructionsQuery);
  const hasInstructions = changed.data?.some(({ gatewayId }) => gatewayId === gateway.id) === true;
  if (drifted.isPending || changed.isPending) return <LoadingRows count={3} />;
  if (drifted.data === undefined)
    return <Failed error={drifted.error} onRetry={() => void drifted.refetch()} />;
  const { tools, total } = drifted.data;
  if (total === 0 && !hasInstructions)
    return (
      <Empty icon={<CircleCheckBig size={32} aria-hidden />} title="Nothing to review">
        Its tools and instructions match what was accepted. Changes will appear here.
      </Empty>
    );
  return (
    <>
      {hasInstructions && <InstructionsCard id={gateway.id} />}
      {tools.map(({ id }) => (
        <ToolCard key={id} id={id} />
      ))}
      {total > tools.length && (
        <p className="quiet">
          {total - tools.length} more appear once these are accepted. <code>assay review --accept</code>{' '}
          accepts all at once.
        </p>
      )}
    </>
  );
}

const SEVERITIES: Readonly<Record<Drift['severity'], string>> = {
  dangerous: 'Dangerous',
  review: 'Changed',
  harmless: 'Harmless',
};

function ToolCard({ id }: { readonly id: string }): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const tool = useQuery(driftQuery(id));
  const accepting = useMutation({
    mutationFn: (etag: string) => acceptDefinition(id, etag),
    // Even if refused: it may have changed again since it was shown.
    onSettled: () => client.invalidateQueries(),
  });
  if (tool.isPending) return <LoadingRows count={2} />;
  if (tool.data === undefined) return <Failed error={tool.error} onRetry={() => void tool.refetch()} />;
  const { namespacedName, title, drift } = tool.data.value;
  if (drift === undefined) return null;
  return (
    <article
      className="review-card"
      data-severity={drift.severity}
      aria-label={`Change of ${namespacedName}`}
    >
      <header>
        <h2>
          <HostileText text={title ?? namespacedName} />
        </h2>
        {title !== undefined && (
          <code>
            <HostileText text={namespacedName} />
          </code>
        )}
        <span className={`badge severity-${drift.severity}`}>{SEVERITIES[drift.severity]}</span>
        <span className="quiet small">
          <When at={drift.since} />
        </span>
      </header>
      {[...drift.dangers, ...drift.flags].map((text) => (
        <p key={text} className="why">
          <HostileText text={text} />
        </p>
      ))}
      {drift.suspends.length > 0 && (
        <p className="why">
          Until it is accepted, your overrides of {drift.suspends.join(', ')} do not apply.
        </p>
      )}
      {drift.changes.map(({ path, before, after }) => (
        <BeforeAfter key={path} path={path} before={before} after={after} />
      ))}
      {accepting.isError && <Failed error={accepting.error} />}
      {isAdmin && (
        <div className="actions-line end">
          <Button loading={accepting.isPending} onClick={() => accepting.mutate(tool.data.etag)}>
            Accept this definition
          </Button>
        </div>
      )}
    </article>
  );
}

function InstructionsCard({ id }: { readonly id: string }): ReactNode {
  const client = useQueryClient();
  const isAdmin = useIsAdmin();
  const instructions = useQuery(instructionsQuery(id));
  const accepting = useMutation({
    mutationFn: (etag: string) => acceptInstructions(id, etag),
    onSettled: () => client.invalidateQueries({ queryKey: ['gateways'] }),
  });
  if (instructions.isPending) return <LoadingRows count={2} />;
  if (instructions.data === undefined) return <Failed error={instructions.error} />;
  const { value, etag } = instructions.data;
  if (value.drift === undefined) return null;
  return (
    <article className="review-card" data-severity="review" aria-label="Change of the instructions">
      <header>
        <h2>Instructions</h2>
        <span className="badge severity-review">Changed</span>
        <span className="quiet small">
          <When at={value.drift.since} />
        </span>
      </header>
      <p className="why">
        Instructions that the server sends to models. Models get the old text until you accept the new one.
      </p>
      <BeforeAfter path="instructions" before={value.text} after={value.drift.text} isText />
      {accepting.isError && <Failed error={accepting.error} />}
      {isAdmin && (
        <div className="actions-line end">
          <Button loading={accepting.isPending} onClick={() => accepting.mutate(etag)}>
            Accept these instructions
          </Button>
        </div>
      )}
    </article>
  );
}
