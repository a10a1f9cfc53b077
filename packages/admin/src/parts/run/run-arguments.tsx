import { SegmentedControl } from '@mantine/core';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { RJSFSchema } from '@rjsf/utils';
import { Component, lazy, Suspense, useState, type ReactNode } from 'react';
import { HostileText } from '../hostile-text.tsx';
import { LoadingRows } from '../states.tsx';
import type { ArgumentFault } from './argument-validator.ts';

const ArgumentForm = lazy(async () => ({ default: (await import('./argument-form.tsx')).ArgumentForm }));

export type Arguments = Readonly<Record<string, unknown>>;

interface RunArgumentsProps {
  /** Undefined if no form can be generated from the schema. */
  readonly schema: RJSFSchema | undefined;
  /** A reference that the schema does not resolve, so that no form can be shown. */
  readonly missingPart: string | undefined;
  /** JSON text. */
  readonly text: string;
  /** Undefined if the text is not a JSON object. */
  readonly value: Arguments | undefined;
  readonly faults: readonly ArgumentFault[];
  readonly isDisabled: boolean;
  readonly onText: (text: string) => void;
}

const MAX_REFERENCE_LENGTH = 200;

/** The arguments as a form and as JSON, kept in sync. */
export function RunArguments(props: RunArgumentsProps): ReactNode {
  const { schema, missingPart, value, faults, isDisabled, onText } = props;
  const [view, setView] = useState<'form' | 'json'>('form');
  const [isBroken, setBroken] = useState(false);
  const hasForm = schema !== undefined && !isBroken;
  const isForm = hasForm && view === 'form' && value !== undefined;
  const isEmpty =
    hasForm && Object.keys(schema.properties ?? {}).length === 0 && schema.additionalProperties === undefined;
  return (
    <section aria-labelledby="arguments-title">
      <div className="section-head">
        <h2 id="arguments-title">Arguments</h2>
        {hasForm && (
          <SegmentedControl
            size="xs"
            aria-label="Edit the arguments as"
            value={isForm ? 'form' : 'json'}
            disabled={value === undefined}
            onChange={(next) => setView(next)}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
          />
        )}
      </div>
      {missingPart !== undefined && (
        <p className="quiet">
          The input schema refers to{' '}
          <code>
            <HostileText text={truncateText(missingPart, MAX_REFERENCE_LENGTH)} />
          </code>
          , a part that it does not have. Write the arguments as JSON; they are not validated here.
        </p>
      )}
      {isForm && isEmpty && <p className="quiet">This tool takes no arguments.</p>}
      {isForm ? (
        <Guard onBroken={() => setBroken(true)}>
          <Suspense fallback={<LoadingRows count={2} />}>
            <ArgumentForm
              schema={schema}
              value={value}
              faults={faults}
              isDisabled={isDisabled}
              onChange={(next) => onText(JSON.stringify(next, null, 2))}
            />
          </Suspense>
        </Guard>
      ) : (
        <JsonView {...props} />
      )}
      {!isForm && faults.length > 0 && (
        <ul className="faults">
          {faults.map(({ at, message }) => (
            <li key={at + message}>
              <code>
                <HostileText text={at === '' ? 'arguments' : at} />
              </code>{' '}
              <HostileText text={message} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function JsonView({ text, value, isDisabled, onText }: RunArgumentsProps): ReactNode {
  return (
    <>
      <textarea
        className="json-input"
        aria-label="Arguments as JSON"
        aria-invalid={value === undefined}
        spellCheck={false}
        rows={Math.min(16, Math.max(5, text.split('\n').length + 1))}
        value={text}
        disabled={isDisabled}
        onChange={(event) => onText(event.currentTarget.value)}
      />
      {value === undefined && (
        <p className="bad small" role="status">
          This is not a JSON object. Example: {'{"path": "notes.md"}'}.
        </p>
      )}
    </>
  );
}

interface GuardProps {
  readonly onBroken: () => void;
  readonly children: ReactNode;
}

/** If the form fails on a schema, only the JSON view remains. */
class Guard extends Component<GuardProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override componentDidCatch(): void {
    this.props.onBroken();
  }

  override render(): ReactNode {
    return this.state.isBroken ? null : this.props.children;
  }
}
