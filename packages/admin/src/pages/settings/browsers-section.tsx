import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Session } from '../../../../gateway/src/api/session.ts';
import { HostileText } from '../../parts/hostile-text.tsx';
import { Failed, LoadingRows } from '../../parts/states.tsx';
import { When } from '../../parts/when.tsx';
import { browsersQuery, useSignOutBrowser } from '../../state/browsers.ts';

/** The list is never empty: this browser is in it. */
export function BrowsersSection(): ReactNode {
  const browsers = useQuery(browsersQuery);
  return (
    <>
      <p className="quiet">
        The browsers that are signed in here. A browser that is signed out needs a new link or a token.
      </p>
      {browsers.isPending && <LoadingRows count={3} />}
      {browsers.isError && <Failed error={browsers.error} onRetry={() => void browsers.refetch()} />}
      <div className="rows">
        {browsers.data?.map((browser) => (
          <BrowserRow key={browser.id} browser={browser} />
        ))}
      </div>
    </>
  );
}

function BrowserRow({ browser }: { readonly browser: Session }): ReactNode {
  const { id, subject, openedBy, createdAt, usedAt, isCurrent } = browser;
  const leaving = useSignOutBrowser();
  return (
    <div role="group" aria-label={`Browser ${id}`}>
      <div className="row">
        <span className="grow">
          <strong>
            <HostileText text={subject} />
          </strong>{' '}
          <span className="quiet">
            signed in by {openedBy === 'link' ? 'a link' : 'a token'} <When at={createdAt} />
          </span>
        </span>
        <span className="quiet wide">
          last used <When at={usedAt} />
        </span>
        {isCurrent ? (
          <span className="badge">This browser</span>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            data-row
            loading={leaving.isPending}
            aria-label={`Sign out ${id}`}
            onClick={() => leaving.mutate(id)}
          >
            Sign out
          </Button>
        )}
      </div>
      {leaving.isError && <Failed error={leaving.error} />}
    </div>
  );
}
