import { Button, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatError } from '../state/api.ts';

/** Placeholders with the height of the rows to come. */
export function LoadingRows({ count = 6 }: { readonly count?: number }): ReactNode {
  return (
    <div role="status" aria-label="Loading" className="rows">
      {Array.from({ length: count }, (_, at) => (
        <div key={at} className="row">
          <span className="skeleton" style={{ width: `${Math.max(12, 55 - at * 4)}%` }} />
        </div>
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly icon?: ReactNode;
  readonly title: string;
  /** What to do next. */
  readonly children?: ReactNode;
}

export function Empty({ icon, title, children }: EmptyProps): ReactNode {
  return (
    <div className="empty">
      {icon}
      <h2>{title}</h2>
      <Text c="dimmed" component="div">
        {children}
      </Text>
    </div>
  );
}

interface FailedProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

export function Failed({ error, onRetry }: FailedProps): ReactNode {
  return (
    <div role="alert" className="failed">
      <CircleAlert size={18} aria-hidden />
      <span>{formatError(error)}</span>
      {onRetry !== undefined && (
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
