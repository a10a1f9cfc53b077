import type { ReactNode } from 'react';

interface PageProps {
  readonly title: string;
  readonly count?: number | undefined;
  /** Search and filters. */
  readonly tools?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, count, tools, children }: PageProps): ReactNode {
  return (
    <div className="page">
      <title>{`${title} · Assay`}</title>
      <header className="page-head">
        <h1>
          {title}
          {count !== undefined && <span className="count">{count.toLocaleString('en')}</span>}
        </h1>
        {tools}
      </header>
      {children}
    </div>
  );
}
