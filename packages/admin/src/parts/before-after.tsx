import type { ReactNode } from 'react';
import { HostileText } from './hostile-text.tsx';

interface BeforeAfterProps {
  /** For example `inputSchema.properties.path`; empty for the whole definition. */
  readonly path: string;
  /** JSON text. Undefined if the member did not exist before, or does not exist now. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Whether they are plain text instead of JSON. */
  readonly isText?: boolean;
}

/** One change of a definition. Differences within a text are marked. */
export function BeforeAfter({ path, before, after, isText = false }: BeforeAfterProps): ReactNode {
  const [was, is] = isText ? [before, after] : [formatJsonValue(before), formatJsonValue(after)];
  // In a number or an object, marking a part of the value would confuse.
  const isMarkedWithin = isText || (isTextual(before) && isTextual(after));
  const { start, end } = isMarkedWithin ? common(was ?? '', is ?? '') : NOTHING_IN_COMMON;
  return (
    <div className="change">
      <code className="path">
        <HostileText text={path === '' ? 'definition' : path} />
      </code>
      <div className="sides">
        <Side label="Before" text={was} start={start} end={end} />
        <Side label="After" text={is} start={start} end={end} />
      </div>
    </div>
  );
}

interface SideProps {
  readonly label: 'Before' | 'After';
  readonly text: string | undefined;
  readonly start: number;
  readonly end: number;
}

function Side({ label, text, start, end }: SideProps): ReactNode {
  return (
    <div className="side" data-side={label}>
      <div className="quiet small">{label}</div>
      {text === undefined ? (
        <p className="quiet">{label === 'Before' ? 'Absent' : 'Removed'}</p>
      ) : (
        <pre className="arguments" tabIndex={0} aria-label={label}>
          <HostileText text={text.slice(0, start)} />
          <mark>
            <HostileText text={text.slice(start, text.length - end)} />
          </mark>
          <HostileText text={text.slice(text.length - end)} />
        </pre>
      )}
    </div>
  );
}

const NOTHING_IN_COMMON = { start: 0, end: 0 } as const;

function isTextual(json: string | undefined): boolean {
  return json?.startsWith('"') === true;
}

/** A JSON string as its text, anything else indented. */
function formatJsonValue(json: string | undefined): string | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  } catch {
    return json;
  }
}

/** Number of characters that two texts share at the start and at the end, without splitting a surrogate pair. */
function common(one: string, other: string): { readonly start: number; readonly end: number } {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  if (start > 0 && isHighSurrogate(one.charCodeAt(start - 1))) start -= 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  if (end > 0 && isLowSurrogate(one.charCodeAt(one.length - end))) end -= 1;
  return { start, end };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
