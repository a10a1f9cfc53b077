import { printable } from '../../core/printable.ts';
import { ok } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { StoredLabel } from '../../gateway/ports/labels.ts';
import { print, printError, printJson, tableOf } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';

export interface LabelOptions extends JsonOptions {
  readonly clear?: string;
}

/**
 * `assay policy labels`: the subjects that have seen untrusted content or private data, since when, and through which
 * tool.
 */
export function showLabels(runtime: Runtime, options: LabelOptions): Promise<number> {
  return withOpened(runtime.openServices(options), async ({ labels }) => {
    const { clear: subject, json } = options;
    if (subject !== undefined) {
      const cleared = await labels.clear(subject, LOCAL_USER.subject);
      if (cleared.ok) printError(`The labels of ${printable(JSON.stringify(subject))} are cleared.`);
      return cleared;
    }
    const listed = await labels.list();
    if (!listed.ok) return listed;
    if (json === true) printJson({ labels: listed.value.map(shownOf) });
    else show(listed.value);
    return ok(undefined);
  });
}

function show(labels: readonly StoredLabel[]): void {
  if (labels.length === 0) print('No labels: no caller has seen untrusted content or private data.');
  else
    print(
      tableOf(
        ['SUBJECT', 'LABEL', 'BY', 'SINCE'],
        labels.map((label) => {
          const { subject, label: name, source, since } = shownOf(label);
          return [printable(subject), name, printable(source), since];
        }),
      ),
    );
}

function shownOf({ subject, label, source, sinceMs, seenMs }: StoredLabel) {
  return { subject, label, source, since: isoOf(sinceMs), lastCallAt: isoOf(seenMs) };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
