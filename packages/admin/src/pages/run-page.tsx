import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft, Play, Square } from 'lucide-react';
import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import type { Tool } from '../../../gateway/src/api/tool.ts';
import { HintIcons } from '../parts/hint-icons.tsx';
import { HostileText } from '../parts/hostile-text.tsx';
import { Page } from '../parts/page.tsx';
import { RiskBadge } from '../parts/risk-badge.tsx';
import type { findArgumentFaults } from '../parts/run/argument-validator.ts';
import { type Arguments, RunArguments } from '../parts/run/run-arguments.tsx';
import { RunNotice } from '../parts/run/run-notice.tsx';
import { Failed, LoadingRows } from '../parts/states.tsx';
import { findMissingPart, toArgumentSchema } from '../state/argument-schema.ts';
import { applyRunChange, NO_RUN, run as runTool, type Run } from '../state/runs.ts';
import { useIsAdmin } from '../state/session.ts';
import { getRisk, toolQuery } from '../state/tools.ts';

// Loaded with the first run.
const RunOutput = lazy(async () => ({ default: (await import('../parts/run/run-output.tsx')).RunOutput }));
const RunQuestion = lazy(async () => ({
  default: (await import('../parts/run/run-question.tsx')).RunQuestion,
}));

export function RunPage(): ReactNode {
  const { toolId } = useParams({ from: '/tools/$toolId/run' });
  const tool = useQuery(toolQuery(toolId));
  return (
    <Page title="Run">
      <div className="run">
        {tool.isPending && <LoadingRows />}
        {tool.isError && <Failed error={tool.error} onRetry={() => void tool.refetch()} />}
        {tool.data !== undefined && <ToolRun key={toolId} tool={tool.data} />}
      </div>
    </Page>
  );
}

function ToolRun({ tool }: { readonly tool: Tool }): ReactNode {
  const [text, setText] = useState('{}');
  const [isInsisting, setInsisting] = useState(false);
  const { run, start, cancel, answered } = useRun(tool.id);
  const isAdmin = useIsAdmin();
  const missingPart = useMemo(() => findMissingPart(tool.inputSchema), [tool.inputSchema]);
  const schema = useMemo(
    () => (missingPart === undefined ? toArgumentSchema(tool.inputSchema) : undefined),
    [tool.inputSchema, missingPart],
  );
  const value = useMemo(() => objectIn(text), [text]);
  const validate = useValidator();
  const faults = useMemo(
    () => (schema === undefined || value === undefined ? [] : (validate?.(schema, value) ?? [])),
    [schema, value, validate],
  );
  const isRunning = run.state === 'running';
  const edit = (next: string): void => {
    // The form also reports a change when it shows faults.
    if (next === text) return;
    setText(next);
    setInsisting(false);
  };
  const submit = (): void => {
    if (value === undefined || isRunning) return;
    if (faults.length > 0 && !isInsisting) setInsisting(true);
    else start(value);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
      }}
    >
      <Head tool={tool} />
      <RunNotice tool={tool} />
      <RunArguments
        schema={schema}
        missingPart={missingPart}
        text={text}
        value={value}
        faults={isInsisting ? faults : []}
        isDisabled={isRunning || !isAdmin}
        onText={edit}
      />
      <div className="buttons">
        <Button
          type="submit"
          size="sm"
          leftSection={<Play size={14} aria-hidden />}
          disabled={!isAdmin || value === undefined || isRunning}
        >
          {isInsisting ? 'Run anyway' : 'Run'}
        </Button>
        {isRunning && (
          <Button size="sm" variant="default" leftSection={<Square size={14} aria-hidden />} onClick={cancel}>
            Cancel
          </Button>
        )}
        {isInsisting && (
          <span className="bad small">The arguments do not match the tool’s input schema.</span>
        )}
        {!isAdmin && <span className="quiet small">Running a tool requires the scope admin.</span>}
      </div>
      <Suspense>
        {run.question !== undefined && <RunQuestion question={run.question} onAnswered={answered} />}
        {run.state !== 'idle' && <RunOutput run={run} />}
      </Suspense>
    </form>
  );
}

function Head({ tool }: { readonly tool: Tool }): ReactNode {
  return (
    <div className="run-head">
      <Link to="/tools" search={{ tool: tool.id }} className="back">
        <ArrowLeft size={14} aria-hidden /> Tool
      </Link>
      <h2>
        <HostileText text={tool.title ?? tool.name} />
      </h2>
      <RiskBadge risk={getRisk(tool)} />
      <HintIcons hints={tool.hints} />
      <code className="quiet">
        <HostileText text={tool.namespacedName} />
      </code>
      {tool.description !== undefined && (
        <p className="description">
          <HostileText text={tool.description} />
        </p>
      )}
    </div>
  );
}

/** Undefined until it is loaded. */
function useValidator(): typeof findArgumentFaults | undefined {
  const [validate, setValidate] = useState<typeof findArgumentFaults>();
  useEffect(() => {
    void import('../parts/run/argument-validator.ts').then((loaded) =>
      setValidate(() => loaded.findArgumentFaults),
    );
  }, []);
  return validate;
}

interface RunControl {
  readonly run: Run;
  readonly start: (args: Arguments) => void;
  readonly cancel: () => void;
  readonly answered: () => void;
}

/** At most one run, which ends when the page is left. */
function useRun(id: string): RunControl {
  const client = useQueryClient();
  const [run, change] = useReducer(applyRunChange, NO_RUN);
  const control = useRef<AbortController>(undefined);
  useEffect(() => () => control.current?.abort(), []);
  const start = (args: Arguments): void => {
    const { signal } = (control.current = new AbortController());
    change({ name: 'started', atMs: Date.now() });
    void runTool({ id, args, signal, onEvent: change }).then((outcome) => {
      change({ name: 'ended', atMs: Date.now(), outcome });
      void client.invalidateQueries({ queryKey: ['approvals'] });
    });
  };
  const cancel = (): void => control.current?.abort();
  return { run, start, cancel, answered: useCallback(() => change({ name: 'answered' }), []) };
}

function objectIn(text: string): Arguments | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Arguments)
      : undefined;
  } catch {
    return undefined;
  }
}
