import { RouterProvider } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { SignInPage } from './pages/sign-in-page.tsx';
import { Failed, LoadingRows } from './parts/states.tsx';
import { router } from './router.tsx';
import { sessionQuery } from './state/session.ts';

interface AppProps {
  /** The code of a sign-in link. */
  readonly code: string | undefined;
}

export function App({ code }: AppProps): ReactNode {
  const session = useQuery(sessionQuery);
  // A link signs in only once; after signing out, the page asks for another.
  const [isTried, setTried] = useState(code === undefined);
  // A page that was opened with a link waits here, so that the reason of a refusal stays on it.
  const isWaiting = !isTried || (code !== undefined && !session.isFetched);
  if (session.data === null || isWaiting)
    return <SignInPage code={isTried ? undefined : code} onTried={() => setTried(true)} />;
  if (session.isPending) return <LoadingRows />;
  if (session.isError && session.data === undefined)
    return (
      <main className="page">
        <Failed error={session.error} onRetry={() => void session.refetch()} />
      </main>
    );
  return <RouterProvider router={router} />;
}
