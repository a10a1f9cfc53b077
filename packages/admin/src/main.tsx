import './styles.ts';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { startTransition, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { ApiError } from './state/api.ts';
import { router } from './router.tsx';
import { sessionQuery, takeCode } from './state/session.ts';
import { theme } from './theme.ts';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Retrying a refused request would not change the answer.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400),
    },
  },
});

const code = takeCode();
const root = document.getElementById('root');
if (root !== null) {
  router.update({ ...router.options, context: { client } });
  // Loads in parallel what would otherwise follow one after another: the session, and the code and data of the page.
  if (code === undefined)
    await Promise.all([
      client.query(sessionQuery).catch(() => undefined),
      router.load().catch(() => undefined),
    ]);
  // A transition renders in small tasks.
  startTransition(() =>
    createRoot(root).render(
      <StrictMode>
        {/* Its variables and classes are in the stylesheets: a style element would break the content-security policy. */}
        <MantineProvider
          theme={theme}
          defaultColorScheme="auto"
          withCssVariables={false}
          withGlobalClasses={false}
          deduplicateInlineStyles={false}
        >
          <QueryClientProvider client={client}>
            <App code={code} />
          </QueryClientProvider>
        </MantineProvider>
      </StrictMode>,
    ),
  );
}
